/* slurm.conf: written from the life's lines, read by Slurm's own parser. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "host.h"

enum { MAX_SETTINGS = 256 };

static struct {
	char *key, *value;
} setting[MAX_SETTINGS];
static int settings;

void twin_conf_set(const char *key, const char *value)
{
	for (int i = 0; i < settings; i++)
		if (!strcasecmp(setting[i].key, key)) {
			xfree(setting[i].value);
			setting[i].value = xstrdup(value);
			return;
		}
	if (settings == MAX_SETTINGS)
		twin_usage_error("more than %d settings", MAX_SETTINGS);
	setting[settings].key = xstrdup(key);
	setting[settings++].value = xstrdup(value);
}

/* Settings that a life may leave out. */
static void set_defaults(const char *state_dir)
{
	const struct {
		const char *key, *value;
	} defaults[] = {
		{ "ClusterName", TWIN_CLUSTER },
		{ "SlurmctldHost", "localhost" },
		{ "SlurmUser", "root" },
		{ "AuthType", "auth/none" },
		{ "AccountingStorageType", "accounting_storage/slurmdbd" },
		{ "StateSaveLocation", state_dir },
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		bool known = false;

		for (int k = 0; k < settings; k++)
			known |= !strcasecmp(setting[k].key, defaults[i].key);
		if (!known)
			twin_conf_set(defaults[i].key, defaults[i].value);
	}
}

/* "DIR/priority_fairtree.so" is PriorityType=priority/fairtree in DIR. */
static void write_plugin(FILE *file, const char *plugin)
{
	char path[PATH_MAX], folder[PATH_MAX], *name, *dot;

	if (!realpath(plugin, path))
		twin_usage_error("%s: %s", plugin, strerror(errno));
	strcpy(folder, path);
	name = basename(path);
	if (strncmp(name, "priority_", 9) || !(dot = strrchr(name, '.')))
		twin_usage_error("%s: not a file priority_NAME.so", plugin);
	*dot = '\0';
	fprintf(file, "PluginDir=%s:%s\n", dirname(folder), twin_option.plugin_dir);
	fprintf(file, "PriorityType=priority/%s\n", name + 9);
}

void twin_conf_load(const char *state_dir, const char *plugin, bool again)
{
	char path[PATH_MAX];
	FILE *file;

	set_defaults(state_dir);
	snprintf(path, sizeof(path), "%s/slurm.conf", state_dir);
	if (!(file = fopen(path, "w")))
		twin_usage_error("%s: %s", path, strerror(errno));
	fprintf(file, "NodeName=n1 CPUs=1\nPartitionName=all Nodes=n1\n");
	write_plugin(file, plugin);
	for (int i = 0; i < settings; i++)
		fprintf(file, "%s=%s\n", setting[i].key, setting[i].value);
	if (fclose(file))
		twin_usage_error("%s: %s", path, strerror(errno));
	if (again)
		slurm_conf_reinit(path);
	else
		slurm_conf_init(path);
	accounting_enforce = slurm_conf.accounting_storage_enforce;
}
