/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Declarations that the parts of the hostile program share.
 */

#ifndef HOSTILE_H
#define HOSTILE_H

#include <fairtree.h>

#include <stdint.h>

/* The call returns this status and, for an error, a sentence that begins with its name. */
#define EXPECT(status, call) expect(__LINE__, #call, (status), (call))

/* An address inside `memory` that is not aligned for `type`. */
#define MISALIGNED(type, memory) ((type *)(void *)((char *)(memory) + 1))

/* Number of calls that were refused correctly. */
extern int refusals;

void expect(int line, const char *function, int32_t wanted, int32_t found);

ft_tree *sample_tree(void);
ft_config *sample_config(void);

void hostile_usage(void);
void hostile_state(void);
void hostile_windows(void);
void hostile_jobs(void);
void hostile_pass(void);
void hostile_queue(void);
void hostile_on_demand(void);
void hostile_service(void);
void random_life(void);

#endif
