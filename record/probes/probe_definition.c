/* One line of the kernel's probe language; tests/unit/test_probe_definition.c has examples. */
#include "record/probes/probe_definition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/probes/usdt_notes.h"

#define DEFAULT_TYPE "u64"

/* Registers of integer arguments in x86-64's System V ABI, by the kernel's names. */
static const char *const argument_registers[] = {"%di", "%si", "%dx", "%cx", "%r8", "%r9"};

#define REGISTERS (sizeof(argument_registers) / sizeof(*argument_registers))

/* Returns 3 for "arg3"; 0 for other texts. */
static unsigned argument_number(const char *fetch)
{
	char *end;
	unsigned long number;

	if (strncmp(fetch, "arg", 3) != 0 || fetch[3] < '1' || fetch[3] > '9')
		return 0;
	number = strtoul(fetch + 3, &end, 10);
	return *end || number > 64 ? 0 : (unsigned)number;
}

static struct mt_error *bad_field(const struct mt_probe_word *word,
				  const struct mt_probe_field *field, const char *why)
{
	return mt_error_create(MT_ERR_USAGE, "%s(%s=%s): %s", word->text, field->name, field->fetch,
			       why);
}

static void put_field(FILE *to, const char *name, const char *fetch, const char *type)
{
	bool is_string = type && (!strcmp(type, "string") || !strcmp(type, "ustring"));
	bool in_memory = strchr(fetch, '(') || *fetch == '$';

	fprintf(to, is_string && !in_memory ? " %s=+0(%s)" : " %s=%s", name, fetch);
	if (type || strcmp(fetch, "$comm") != 0)
		fprintf(to, ":%s", type ? type : DEFAULT_TYPE);
}

/* Writes an argument of a static probe as its note describes it. */
static struct mt_error *put_own_argument(FILE *to, const struct mt_probe_word *word,
					 const struct mt_probe_field *field, const char *arguments,
					 unsigned number)
{
	struct mt_usdt_argument argument;

	if (!mt_usdt_argument_get(arguments ? arguments : "", number - 1, &argument))
		return bad_field(word, field, "the probe has not so many arguments");
	if (!*argument.fetch)
		return bad_field(word, field, "the kernel cannot fetch that argument's place");
	put_field(to, field->name, argument.fetch, field->type ? field->type : argument.type);
	return NULL;
}

static struct mt_error *put_chosen(FILE *to, const struct mt_probe_word *word,
				   const struct mt_probe_field *field, const char *arguments)
{
	unsigned number = argument_number(field->fetch);
	char fetch[64];

	if (!strcmp(field->fetch, "retval") || !strcmp(field->fetch, "$retval")) {
		if (!mt_probe_is_return(word->kind))
			return bad_field(word, field, "only a return probe (ur:) has it");
		put_field(to, field->name, "$retval", field->type);
		return NULL;
	}
	if (number && word->kind == MT_PROBE_USDT)
		return put_own_argument(to, word, field, arguments, number);
	if (number && mt_probe_is_return(word->kind))
		return bad_field(word, field,
				 "arguments are gone when a function returns: fetch "
				 "them at its start (u:)");
	if (number && word->offset)
		return bad_field(word, field,
				 "arguments are known by number at a function's start "
				 "only: name the register");
	if (number > REGISTERS)
		snprintf(fetch, sizeof(fetch), "$stack%u", number - (unsigned)REGISTERS);
	else
		snprintf(fetch, sizeof(fetch), "%s", number ? argument_registers[number - 1] : "");
	if (!number && *field->fetch == '%' && !mt_usdt_register(field->fetch + 1))
		return bad_field(word, field, "there is no such register");
	if (!number && *field->fetch == '%')
		snprintf(fetch, sizeof(fetch), "%%%s", mt_usdt_register(field->fetch + 1));
	put_field(to, field->name, *fetch ? fetch : field->fetch, field->type);
	return NULL;
}

/*
 * Writes all arguments of a static probe that the kernel can fetch; lists the others in left_out.
 */
static void put_all_own(FILE *to, const char *arguments, FILE *left_out)
{
	struct mt_usdt_argument argument;

	for (unsigned i = 0; mt_usdt_argument_get(arguments, i, &argument); i++) {
		char name[16];

		snprintf(name, sizeof(name), "arg%u", i + 1);
		if (*argument.fetch)
			put_field(to, name, argument.fetch, argument.type);
		else
			fprintf(left_out, "%s%s (%s)", ftell(left_out) ? ", " : "", name,
				argument.text);
	}
}

static void put_place(FILE *to, const struct mt_probe_definition *definition,
		      const struct mt_probe_word *word)
{
	fprintf(to, "%c:%s/%s ", mt_probe_is_return(word->kind) ? 'r' : 'p', definition->group,
		definition->name);
	if (!definition->file) {
		fprintf(to, "%s", definition->symbol);
		if (definition->offset)
			fprintf(to, "+%" PRIu64, definition->offset);
		return;
	}
	fprintf(to, "%s:0x%" PRIx64, definition->file, definition->offset);
	if (definition->semaphore)
		fprintf(to, "(0x%" PRIx64 ")", definition->semaphore);
}

struct mt_error *mt_probe_definition_text(const struct mt_probe_definition *definition,
					  const struct mt_probe_word *word, char **out,
					  char **left_out)
{
	MT_CLEANUP_FREE char *text = NULL;
	MT_CLEANUP_FREE char *omitted = NULL;
	size_t size, omitted_size;
	FILE *to = open_memstream(&text, &size);
	FILE *left = to ? open_memstream(&omitted, &omitted_size) : NULL;
	struct mt_error *err = NULL;

	if (!left) {
		if (to)
			fclose(to);
		return mt_error_nomem();
	}
	put_place(to, definition, word);
	if (!word->fields.count && definition->arguments)
		put_all_own(to, definition->arguments, left);
	for (size_t i = 0; i < word->fields.count && !err; i++)
		err = put_chosen(to, word, &word->fields.items[i], definition->arguments);
	if (fclose(to) | fclose(left))
		err = err ? err : mt_error_nomem();
	if (err)
		return err;
	*out = MT_TAKE(text);
	*left_out = omitted_size ? MT_TAKE(omitted) : NULL;
	return NULL;
}
