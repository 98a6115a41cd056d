/*
 * Events during a pass: at a point where the plugin's thread has released its
 * last lock, it must wait, and the events that the life has for this point are
 * played.
 */
#include <ctype.h>

#include "host.h"

enum { MOST = 16 };

static struct {
	twin_line line[MOST];
	int count;
	int point;
} kept;

bool twin_during(char *text, int number)
{
	static const char verb[] = "during ";
	char *rest;
	int point;

	while (isspace((unsigned char)*text))
		text++;
	if (strncmp(text, verb, sizeof(verb) - 1))
		return false;
	point = (int)strtol(text + sizeof(verb) - 1, &rest, 10);
	if ((point < 1) || (kept.count && (point != kept.point)))
		twin_usage_error("line %d: events of a pass are at one point, from 1",
				 number);
	if (kept.count == MOST)
		twin_usage_error("line %d: more than %d events in a pass",
				 number, MOST);
	kept.point = point;
	if (twin_words_split(rest, number, &kept.line[kept.count]))
		kept.count++;
	return true;
}

void twin_during_pass(void)
{
	bool came;

	if (!kept.count) {
		twin_clock_pass();
		return;
	}
	twin_clock_pause_at(kept.point);
	twin_clock_pass();
	came = twin_clock_paused();
	for (int i = 0; came && (i < kept.count); i++)
		twin_happen(&kept.line[i]);
	twin_clock_pause_at(0);
	if (came)
		twin_clock_resume();
	twin_dump_note(came ? "during" : "never", kept.point);
	kept.count = 0;
}
