/*
 * Names of the Itanium C++ ABI, printed while they are read. That needs what is printed to come in
 * the order of the mangled name, and every substitution to stand for a piece that was printed
 * before. So it is with nearly all names; what is otherwise - pointers to functions and to members,
 * arrays, expressions, parameters of templates - is left to libiberty, and so is every name that is
 * not as the ABI has it. Where libiberty has its own way, as with packs that are empty, this one
 * has it, too.
 */
#include "symbols/demangle_plain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	MANGLED_MAX =
		800, /* libiberty gives up on trees 1,024 deep; none is deeper than its name */
	PRINTED_MAX = 4096,
	PIECES_MAX = 200,
	NESTED_MAX = 64,
	QUALIFIERS_MAX = 3,
};

/* What a piece is that something is put behind. */
enum kind {
	IS_REFERENCE = 1, /* references to it are that one reference */
	IS_QUALIFIED = 2, /* it ends in const or the like, which is not said twice */
	IS_FUNCTION = 4,  /* a pointer to it would stand inside */
	IS_AUTO = 8,	  /* it has parameters of a lambda, which are something else elsewhere */
	IS_BAD = 16,
};

/* What a name says about the function that has it. */
enum trait {
	IS_TEMPLATE = 1, /* its return type is in the mangled name */
	IS_CONST = 2,
	IS_OTHER = 4, /* volatile, && and so on */
	IS_MAKER = 8, /* of objects, or their end: no return type at all */
	IS_LAMBDA = 16,
};

struct text {
	const char *bytes;
	size_t size;
};

struct piece {
	struct text text;
	unsigned int kind;
};

struct printer {
	const char *pos; /* the name ends in NUL, which is of no kind */
	char *out, *end; /* where to print; all that was printed stays where it is */
	char *dropping;	 /* where to print what is not to be seen */
	char last;	 /* libiberty's idea of the character printed last */
	bool bad;
	uint8_t nested, lambdas;
	uint16_t autos; /* parameters of lambdas that were printed */
	struct text last_name;
	size_t piece_count;
	struct piece pieces[PIECES_MAX];
	char printed[PRINTED_MAX], dropped[PRINTED_MAX];
};

static unsigned int print_type(struct printer *p);
static unsigned int print_name(struct printer *p, bool is_type);
static void print_arguments(struct printer *p);

/* ---- Characters ---- */

static void give_up(struct printer *p)
{
	p->bad = true;
	p->pos = ""; /* so that nothing goes on */
}

static bool take(struct printer *p, char c)
{
	if (*p->pos != c)
		return false;
	p->pos++;
	return true;
}

static void need(struct printer *p, char c)
{
	if (!take(p, c))
		give_up(p);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void put(struct printer *p, const char *bytes, size_t size)
{
	if (size > (size_t)(p->end - p->out)) {
		give_up(p);
		return;
	}
	if (!size)
		return;
	memcpy(p->out, bytes, size);
	p->out += size;
	p->last = bytes[size - 1];
}

static void put_text(struct printer *p, struct text text)
{
	put(p, text.bytes, text.size);
}

#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

/* A number as it stands in a name; gives up where there is none, or a long one. */
static unsigned int read_number(struct printer *p)
{
	unsigned int number = 0;
	const char *from = p->pos;

	for (; is_digit(*p->pos) && p->pos - from < 6; p->pos++)
		number = number * 10 + (unsigned int)(*p->pos - '0');
	if (p->pos == from || is_digit(*p->pos))
		give_up(p);
	return number;
}

static void put_number(struct printer *p, unsigned int number)
{
	char digits[16], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	put(p, at, (size_t)(digits + sizeof(digits) - at));
}

/* "_", "0_", "1_" ...: from 0 on. */
static unsigned int read_compact(struct printer *p)
{
	unsigned int number = *p->pos == '_' ? 0 : read_number(p) + 1;

	need(p, '_');
	return number;
}

/* ---- Substitutions ---- */

static struct text printed_from(const struct printer *p, const char *from)
{
	return (struct text){from, (size_t)(p->out - from)};
}

static void keep(struct printer *p, const char *from, unsigned int kind)
{
	if (p->bad)
		return;
	if (p->piece_count == PIECES_MAX) {
		give_up(p);
		return;
	}
	p->pieces[p->piece_count++] = (struct piece){printed_from(p, from), kind};
}

/* The kind of something that was printed since there were so many parameters of lambdas. */
static unsigned int autos_since(const struct printer *p, uint16_t before)
{
	return p->autos != before ? IS_AUTO : 0;
}

static unsigned int put_piece(struct printer *p)
{
	size_t number = 0;
	const struct piece *piece;

	if (*p->pos != '_') {
		for (; is_digit(*p->pos) || (*p->pos >= 'A' && *p->pos <= 'Z'); p->pos++) {
			number = number * 36 +
				 (size_t)(*p->pos - (is_digit(*p->pos) ? '0' : 'A' - 10));
			if (number >= PIECES_MAX)
				break;
		}
		number++;
	}
	need(p, '_');
	if (p->bad || number >= p->piece_count) {
		give_up(p);
		return IS_BAD;
	}
	piece = &p->pieces[number];
	if (piece->kind & IS_AUTO && !p->lambdas) {
		give_up(p);
		return IS_BAD;
	}
	p->autos += piece->kind & IS_AUTO ? 1 : 0;
	put_text(p, piece->text);
	return piece->kind;
}

/* A name with an abbreviation of its own; whole where it is one of a class that is named again. */
static void put_standard(struct printer *p, bool is_prefix)
{
#define TEXT(literal)                        \
	{                                    \
		literal, sizeof(literal) - 1 \
	}
	static const struct standard {
		char code;
		struct text text, whole, last_name;
	} all[] = {
		{'a', TEXT("std::allocator"), TEXT("std::allocator"), TEXT("allocator")},
		{'b', TEXT("std::basic_string"), TEXT("std::basic_string"), TEXT("basic_string")},
		{'s', TEXT("std::string"),
		 TEXT("std::basic_string<char, std::char_traits<char>, std::allocator<char> >"),
		 TEXT("basic_string")},
		{'i', TEXT("std::istream"),
		 TEXT("std::basic_istream<char, std::char_traits<char> >"), TEXT("basic_istream")},
		{'o', TEXT("std::ostream"),
		 TEXT("std::basic_ostream<char, std::char_traits<char> >"), TEXT("basic_ostream")},
		{'d', TEXT("std::iostream"),
		 TEXT("std::basic_iostream<char, std::char_traits<char> >"),
		 TEXT("basic_iostream")},
	};
#undef TEXT
	char code = *p->pos;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i].code != code)
			continue;
		p->pos++;
		p->last_name = all[i].last_name;
		if (*p->pos == 'B')
			break;
		put_text(p, is_prefix && (*p->pos == 'C' || *p->pos == 'D') ? all[i].whole
									    : all[i].text);
		return;
	}
	give_up(p);
}

/* Behind an S, other than St. */
static unsigned int print_substitution(struct printer *p, bool is_prefix)
{
	if (*p->pos >= 'a' && *p->pos <= 'z') {
		put_standard(p, is_prefix);
		return 0;
	}
	return put_piece(p);
}

/* ---- Names without what they are in ---- */

static void print_source_name(struct printer *p)
{
	static const char prefix[] = "_GLOBAL_", instead[] = "(anonymous namespace)";
	unsigned int size = read_number(p);
	const char *name = p->pos;

	if (!size || strnlen(name, size) < size) {
		give_up(p);
		return;
	}
	p->pos += size;
	p->last_name = (struct text){name, size};
	if (size >= sizeof(prefix) + 1 && !memcmp(name, prefix, sizeof(prefix) - 1) &&
	    strchr("._$", name[sizeof(prefix) - 1]) && name[sizeof(prefix)] == 'N')
		p->last_name = (struct text){instead, sizeof(instead) - 1};
	put_text(p, p->last_name);
}

static void print_operator(struct printer *p)
{
	static const struct {
		char code[3], text[12];
	} all[] = {
		{"aN", "&="},	   {"aS", "="},		{"aa", "&&"}, {"ad", "&"},
		{"an", "&"},	   {"aw", " co_await"}, {"cl", "()"}, {"cm", ","},
		{"co", "~"},	   {"dV", "/="},	{"de", "*"},  {"da", " delete[]"},
		{"dl", " delete"}, {"dv", "/"},		{"eO", "^="}, {"eo", "^"},
		{"eq", "=="},	   {"ge", ">="},	{"gt", ">"},  {"ix", "[]"},
		{"lS", "<<="},	   {"le", "<="},	{"ls", "<<"}, {"lt", "<"},
		{"mI", "-="},	   {"mL", "*="},	{"mi", "-"},  {"ml", "*"},
		{"mm", "--"},	   {"na", " new[]"},	{"ne", "!="}, {"ng", "-"},
		{"nt", "!"},	   {"nw", " new"},	{"oR", "|="}, {"oo", "||"},
		{"or", "|"},	   {"pL", "+="},	{"pl", "+"},  {"pm", "->*"},
		{"pp", "++"},	   {"ps", "+"},		{"pt", "->"}, {"rM", "%="},
		{"rS", ">>="},	   {"rm", "%"},		{"rs", ">>"}, {"ss", "<=>"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (p->pos[0] != all[i].code[0] || p->pos[1] != all[i].code[1])
			continue;
		p->pos += 2;
		PUT(p, "operator");
		put(p, all[i].text, strlen(all[i].text));
		return;
	}
	give_up(p);
}

/* Constructors and destructors: the name of the class once more, as libiberty remembers it. */
static void print_maker(struct printer *p)
{
	bool destructs = *p->pos == 'D';
	const char *which = destructs ? "01245" : "12345";

	p->pos++;
	if (!*p->pos || !strchr(which, *p->pos) || !p->last_name.size) {
		give_up(p);
		return;
	}
	p->pos++;
	if (destructs)
		PUT(p, "~");
	put_text(p, p->last_name);
}

/* Types of parameters up to E, or none where that is void. */
static void print_parameters(struct printer *p)
{
	if (p->pos[0] == 'v' && p->pos[1] == 'E') {
		p->pos++;
		return;
	}
	do {
		unsigned int kind = print_type(p);

		/* libiberty lets what is behind a lambda's type have a say in these */
		if (p->lambdas && kind & (IS_QUALIFIED | IS_FUNCTION))
			give_up(p);
		if (!p->bad && *p->pos != 'E')
			PUT(p, ", ");
	} while (!p->bad && *p->pos != 'E');
}

static void print_lambda(struct printer *p)
{
	uint16_t autos = p->autos;

	p->pos++;
	need(p, 'l');
	PUT(p, "{lambda(");
	p->lambdas++;
	print_parameters(p);
	p->lambdas--;
	p->autos = autos; /* its own are numbered the same everywhere */
	need(p, 'E');
	PUT(p, ")#");
	put_number(p, read_compact(p) + 1);
	PUT(p, "}");
}

static unsigned int print_tags(struct printer *p)
{
	struct text last_name = p->last_name;

	while (take(p, 'B')) {
		PUT(p, "[abi:");
		print_source_name(p);
		PUT(p, "]");
	}
	p->last_name = last_name;
	return 0;
}

/* Gives traits. */
static unsigned int print_unqualified(struct printer *p)
{
	unsigned int traits = 0;

	switch (*p->pos) {
	case '0' ... '9':
		print_source_name(p);
		break;
	case 'a' ... 'z':
		print_operator(p);
		break;
	case 'C':
	case 'D':
		print_maker(p);
		traits = IS_MAKER;
		break;
	case 'L':
		p->pos++;
		print_source_name(p);
		if (*p->pos == '_')
			give_up(p);
		break;
	case 'U':
		print_lambda(p);
		traits = IS_LAMBDA;
		break;
	default:
		give_up(p);
	}
	return *p->pos == 'B' ? print_tags(p) : traits;
}

/* ---- Whole names ---- */

static unsigned int read_traits(struct printer *p)
{
	unsigned int traits = 0;

	for (;; p->pos++) {
		if (*p->pos == 'K')
			traits |= traits & IS_CONST ? IS_OTHER : IS_CONST;
		else if (*p->pos == 'V' || *p->pos == 'r')
			traits |= IS_OTHER;
		else
			break;
	}
	if (take(p, 'R') || take(p, 'O'))
		traits |= IS_OTHER;
	return traits;
}

static void print_namespace_or_class(struct printer *p)
{
	p->pos++;
	if (take(p, 't'))
		PUT(p, "std");
	else if (print_substitution(p, true) & ~(unsigned int)IS_AUTO)
		give_up(p);
}

/* Behind an N. */
static unsigned int print_nested(struct printer *p)
{
	unsigned int of_function = read_traits(p), traits = 0;
	const char *from = p->out;
	uint16_t autos = p->autos;

	for (bool first = true; !p->bad; first = false) {
		if (*p->pos == 'S' && first) {
			print_namespace_or_class(p);
			continue;
		}
		if (*p->pos == 'I' && !first) {
			print_arguments(p);
			traits |= IS_TEMPLATE;
		} else {
			if (!first)
				PUT(p, "::");
			traits = print_unqualified(p);
		}
		if (*p->pos == 'E')
			break;
		keep(p, from, autos_since(p, autos));
	}
	need(p, 'E');
	return (traits & ~(unsigned int)IS_LAMBDA) | of_function;
}

/* A return type is read, since later types may refer to it, and printed nowhere. */
static void drop_type(struct printer *p)
{
	char *out = p->out, *end = p->end, last = p->last;

	p->out = p->dropping;
	p->end = p->dropped + sizeof(p->dropped);
	print_type(p);
	p->dropping = p->out;
	p->out = out;
	p->end = end;
	p->last = last;
}

/* A function that has something inside, with its parameters. */
static void print_function(struct printer *p)
{
	unsigned int traits = print_name(p, false);

	if (traits & IS_OTHER || (traits & IS_CONST && *p->pos == 'E'))
		give_up(p);
	if (*p->pos == 'E')
		return;
	if ((traits & (IS_TEMPLATE | IS_MAKER)) == IS_TEMPLATE)
		drop_type(p);
	PUT(p, "(");
	print_parameters(p);
	PUT(p, ")");
	if (traits & IS_CONST)
		PUT(p, " const");
}

/* Tells things of one name in a function apart; it is not printed. */
static void skip_discriminator(struct printer *p)
{
	bool is_long;

	if (!take(p, '_'))
		return;
	is_long = take(p, '_');
	if (read_number(p) >= 10 && is_long)
		need(p, '_');
}

/* Behind a Z. */
static unsigned int print_local(struct printer *p)
{
	unsigned int traits;

	print_function(p);
	need(p, 'E');
	PUT(p, "::");
	if (*p->pos == 's' || *p->pos == 'd') /* a string, or the default of a parameter */
		give_up(p);
	traits = print_name(p, false);
	if (!(traits & IS_LAMBDA))
		skip_discriminator(p);
	return traits & ~(unsigned int)IS_LAMBDA;
}

/* One that is in no class, and perhaps in std. */
static unsigned int print_unscoped(struct printer *p)
{
	const char *from = p->out;
	uint16_t autos = p->autos;
	bool is_lambda = *p->pos == 'U';
	unsigned int traits;

	if (take(p, 'S')) {
		need(p, 't');
		PUT(p, "std::");
	}
	traits = print_unqualified(p);
	if (*p->pos != 'I' || is_lambda)
		return traits;
	keep(p, from, autos_since(p, autos));
	print_arguments(p);
	return (traits & ~(unsigned int)IS_LAMBDA) | IS_TEMPLATE;
}

/* Gives traits. The name of a type can be substituted later. */
static unsigned int print_name(struct printer *p, bool is_type)
{
	const char *from = p->out;
	uint16_t autos = p->autos;
	unsigned int traits;

	if (++p->nested > NESTED_MAX)
		give_up(p);
	if (take(p, 'N'))
		traits = print_nested(p);
	else if (take(p, 'Z'))
		traits = print_local(p);
	else
		traits = print_unscoped(p);
	p->nested--;
	if (!is_type)
		return traits;
	if (traits & (IS_CONST | IS_OTHER))
		give_up(p);
	keep(p, from, autos_since(p, autos));
	return traits;
}

/* ---- Types ---- */

static struct text builtin_name(char code)
{
#define TEXT(letter, literal) [(letter) - 'a'] = { literal, sizeof(literal) - 1 }
	static const struct text all[26] = {
		TEXT('a', "signed char"), TEXT('b', "bool"),
		TEXT('c', "char"),	  TEXT('d', "double"),
		TEXT('e', "long double"), TEXT('f', "float"),
		TEXT('g', "__float128"),  TEXT('h', "unsigned char"),
		TEXT('i', "int"),	  TEXT('j', "unsigned int"),
		TEXT('l', "long"),	  TEXT('m', "unsigned long"),
		TEXT('n', "__int128"),	  TEXT('o', "unsigned __int128"),
		TEXT('s', "short"),	  TEXT('t', "unsigned short"),
		TEXT('v', "void"),	  TEXT('w', "wchar_t"),
		TEXT('x', "long long"),	  TEXT('y', "unsigned long long"),
		TEXT('z', "..."),
	};
#undef TEXT
	return code >= 'a' && code <= 'z' ? all[code - 'a'] : (struct text){0};
}

static void print_builtin(struct printer *p)
{
	struct text name = builtin_name(*p->pos);

	if (!name.size) {
		give_up(p);
		return;
	}
	p->pos++;
	put_text(p, name);
}

/* Behind a D. */
static void print_long_builtin(struct printer *p)
{
	if (take(p, 'n'))
		PUT(p, "decltype(nullptr)");
	else if (take(p, 'i'))
		PUT(p, "char32_t");
	else if (take(p, 's'))
		PUT(p, "char16_t");
	else
		give_up(p);
}

/* const and the like: all that a type has are one step of substitution. */
static unsigned int print_qualified(struct printer *p)
{
	const char *from = p->out, *first = p->pos;
	uint16_t autos = p->autos;
	size_t count = strspn(p->pos, "rVK");

	p->pos += count;
	if (count > QUALIFIERS_MAX || *p->pos == 'D' ||
	    print_type(p) & (IS_QUALIFIED | IS_FUNCTION))
		give_up(p);
	for (size_t i = count; i-- > 0 && !p->bad;) {
		if (memchr(first, first[i], i))
			give_up(p); /* twice */
		if (first[i] == 'K')
			PUT(p, " const");
		else if (first[i] == 'V')
			PUT(p, " volatile");
		else
			PUT(p, " restrict");
	}
	keep(p, from, IS_QUALIFIED | autos_since(p, autos));
	return IS_QUALIFIED;
}

/* Pointers and references. */
static unsigned int print_indirect(struct printer *p)
{
	const char *from = p->out;
	uint16_t autos = p->autos;
	unsigned int kind = *p->pos == 'P' ? 0 : IS_REFERENCE, to;
	char code = *p->pos++;

	to = print_type(p);
	if (to & IS_FUNCTION || (kind && to & IS_REFERENCE))
		give_up(p);
	if (code == 'P')
		PUT(p, "*");
	else if (code == 'R')
		PUT(p, "&");
	else
		PUT(p, "&&");
	keep(p, from, kind | autos_since(p, autos));
	return kind;
}

/* Behind an F. */
static unsigned int print_function_type(struct printer *p)
{
	const char *from = p->out;
	uint16_t autos = p->autos;

	if (print_type(p) & IS_FUNCTION)
		give_up(p);
	PUT(p, " (");
	print_parameters(p);
	PUT(p, ")");
	need(p, 'E');
	keep(p, from, IS_FUNCTION | autos_since(p, autos));
	return IS_FUNCTION;
}

/* Behind a T: a parameter of a template, which we know of lambdas only. */
static unsigned int print_auto(struct printer *p)
{
	const char *from = p->out;

	if (!p->lambdas)
		give_up(p);
	PUT(p, "auto:");
	put_number(p, read_compact(p) + 1);
	if (*p->pos == 'I')
		give_up(p);
	p->autos++;
	keep(p, from, IS_AUTO);
	return 0;
}

/* At an S that is not of std alone. */
static unsigned int print_substituted(struct printer *p)
{
	const char *from = p->out;
	uint16_t autos = p->autos;
	unsigned int kind;

	p->pos++;
	kind = print_substitution(p, false) & ~(unsigned int)IS_AUTO;
	if (*p->pos != 'I')
		return kind;
	if (kind)
		give_up(p);
	print_arguments(p);
	keep(p, from, autos_since(p, autos));
	return 0;
}

/* Gives its kind. */
static unsigned int print_type(struct printer *p)
{
	unsigned int kind = 0;

	if (++p->nested > NESTED_MAX)
		give_up(p);
	switch (*p->pos) {
	case 'r':
	case 'V':
	case 'K':
		kind = print_qualified(p);
		break;
	case 'P':
	case 'R':
	case 'O':
		kind = print_indirect(p);
		break;
	case 'F':
		p->pos++;
		kind = print_function_type(p);
		break;
	case 'T':
		p->pos++;
		kind = print_auto(p);
		break;
	case 'D':
		p->pos++;
		print_long_builtin(p);
		break;
	case 'S':
		if (p->pos[1] != 't') {
			kind = print_substituted(p);
			break;
		}
		/* fall through */
	case 'N':
	case 'Z':
	case '0' ... '9':
		print_name(p, true);
		break;
	default:
		print_builtin(p);
	}
	p->nested--;
	return kind;
}

/* ---- Arguments of templates ---- */

/* The digits of a number up to E, with its sign; what is behind by the type. */
static void print_value(struct printer *p, const char *suffix)
{
	const char *digits;

	if (take(p, 'n'))
		PUT(p, "-");
	digits = p->pos;
	while (is_digit(*p->pos))
		p->pos++;
	if (p->pos == digits)
		give_up(p);
	need(p, 'E');
	if (p->bad)
		return;
	put(p, digits, (size_t)(p->pos - 1 - digits));
	put(p, suffix, strlen(suffix));
}

static void print_bool(struct printer *p)
{
	if (take(p, '0'))
		PUT(p, "false");
	else if (take(p, '1'))
		PUT(p, "true");
	else
		give_up(p);
	need(p, 'E');
}

/* Behind an L. */
static void print_literal(struct printer *p)
{
	static const char codes[] = "ijlmxy", *const suffixes[] = {"", "u", "l", "ul", "ll", "ull"};
	const char *number = *p->pos ? strchr(codes, *p->pos) : NULL;

	if (number) {
		p->pos++;
		print_value(p, suffixes[number - codes]);
		return;
	}
	if (take(p, 'b')) {
		print_bool(p);
		return;
	}
	if (!*p->pos || strchr("defguvzDTLZ_", *p->pos)) {
		give_up(p);
		return;
	}
	PUT(p, "(");
	if (print_type(p) & IS_FUNCTION)
		give_up(p);
	PUT(p, ")");
	print_value(p, "");
}

static void print_list(struct printer *p);

static void print_argument(struct printer *p)
{
	if (take(p, 'L'))
		print_literal(p);
	else if (take(p, 'I') || take(p, 'J'))
		print_list(p); /* a pack */
	else
		print_type(p);
}

/* Up to E. Packs at the end that have nothing in them are not printed, and leave a trace. */
static void print_list(struct printer *p)
{
	struct text last_name = p->last_name;
	char *full = p->out;

	if (++p->nested > NESTED_MAX)
		give_up(p);
	for (bool first = true; !p->bad && !take(p, 'E'); first = false) {
		char *from;

		if (!first)
			PUT(p, ", ");
		from = p->out;
		print_argument(p);
		if (first || p->out != from)
			full = p->out;
	}
	if (p->out != full)
		p->last = ' ';
	p->out = full;
	p->last_name = last_name;
	p->nested--;
}

static void print_arguments(struct printer *p)
{
	need(p, 'I');
	if (p->last == '<')
		PUT(p, " ");
	PUT(p, "<");
	print_list(p);
	if (p->last == '>')
		PUT(p, " ");
	PUT(p, ">");
}

/* ---- All of it ---- */

char *mt_demangle_plain(const char *name)
{
	struct printer p;
	size_t size;
	char *result;

	if (name[0] != '_' || name[1] != 'Z' || strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	/* the arrays are large, and need not be zero */
	p.pos = name + 2;
	p.out = p.printed;
	p.end = p.printed + sizeof(p.printed);
	p.dropping = p.dropped;
	p.last = '\0';
	p.bad = false;
	p.nested = p.lambdas = 0;
	p.autos = 0;
	p.last_name = (struct text){0};
	p.piece_count = 0;
	print_name(&p, false);
	size = (size_t)(p.out - p.printed);
	result = p.bad ? NULL : malloc(size + 1);
	if (!result)
		return NULL;
	memcpy(result, p.printed, size);
	result[size] = '\0';
	return result;
}
