/* One line of a life, split into words and read as numbers. */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "host.h"

/* The next word of *text, ended in place; NULL at the end of the line. */
static char *next_word(char **text)
{
	char *word = *text;

	while (isspace((unsigned char)*word))
		word++;
	if (!*word || (*word == '#'))
		return NULL;
	*text = word;
	while (**text && !isspace((unsigned char)**text))
		(*text)++;
	if (**text)
		*(*text)++ = '\0';
	return word;
}

bool twin_words_split(char *text, int number, twin_line *line)
{
	char *word;

	memset(line, 0, sizeof(*line));
	line->number = number;
	if (!(line->verb = next_word(&text)))
		return false;
	while ((word = next_word(&text))) {
		char *equals = strchr(word, '=');

		if (!equals) {
			if (line->arg || line->count)
				twin_usage_error("line %d: \"%s\" is neither the argument nor key=value",
						 number, word);
			line->arg = word;
			continue;
		}
		if (line->count == TWIN_MAX_WORDS)
			twin_usage_error("line %d: more than %d words", number,
					 TWIN_MAX_WORDS);
		*equals = '\0';
		line->key[line->count] = word;
		line->value[line->count++] = equals + 1;
	}
	return true;
}

const char *twin_word(const twin_line *line, const char *key)
{
	for (int i = 0; i < line->count; i++)
		if (!strcmp(line->key[i], key))
			return line->value[i];
	return NULL;
}

static void bad_number(const twin_line *line, const char *what,
		       const char *text)
{
	twin_usage_error("line %d: %s %s: \"%s\" is not a number it takes",
			 line->number, line->verb, what, text);
}

static int64_t integer(const twin_line *line, const char *what,
		       const char *text)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || *end || (end == text))
		bad_number(line, what, text);
	return number;
}

int64_t twin_word_i64(const twin_line *line, const char *key,
		      int64_t otherwise)
{
	const char *text = twin_word(line, key);

	return text ? integer(line, key, text) : otherwise;
}

uint64_t twin_word_u64(const twin_line *line, const char *key,
		       uint64_t otherwise)
{
	const char *text = twin_word(line, key);
	int64_t number;

	if (!text)
		return otherwise;
	if (!strcmp(text, "nocount"))
		return NO_CONSUME_VAL64;
	if ((number = integer(line, key, text)) < 0)
		bad_number(line, key, text);
	return number;
}

uint32_t twin_word_u32(const twin_line *line, const char *key,
		       uint32_t otherwise)
{
	const char *text = twin_word(line, key);
	int64_t number;

	if (!text)
		return otherwise;
	if (!strcmp(text, "inf"))
		return INFINITE;
	if (!strcmp(text, "unset"))
		return NO_VAL;
	number = integer(line, key, text);
	if ((number < 0) || (number > UINT32_MAX))
		bad_number(line, key, text);
	return number;
}

double twin_word_f64(const twin_line *line, const char *key, double otherwise)
{
	const char *text = twin_word(line, key);
	char *end;
	double number;

	if (!text)
		return otherwise;
	number = strtod(text, &end);
	if (*end || (end == text) || isnan(number))
		bad_number(line, key, text);
	return number;
}

int64_t twin_arg_i64(const twin_line *line)
{
	if (!line->arg)
		twin_usage_error("line %d: %s needs an argument", line->number,
				 line->verb);
	return integer(line, "argument", line->arg);
}

uint32_t twin_arg_u32(const twin_line *line)
{
	int64_t number = twin_arg_i64(line);

	if ((number < 0) || (number > UINT32_MAX))
		bad_number(line, "argument", line->arg);
	return number;
}
