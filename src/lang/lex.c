#include "lang/lex.h"

#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"

static const struct {
	const char *text;
	uint8_t kind;
	bool atm, sml;
} words[] = {
	{ "bool", T_BOOL, true, false },       { "int", T_INT_TYPE, true, true },       { "enum", T_ENUM, true, false },
	{ "const", T_CONST, true, false },     { "lock", T_LOCK, true, true },          { "safe", T_SAFE, true, false },
	{ "regular", T_REGULAR, true, false }, { "proc", T_PROC, true, false },         { "void", T_VOID, true, false },
	{ "thread", T_THREAD, true, false },   { "object", T_OBJECT, true, false },     { "if", T_IF, true, true },
	{ "else", T_ELSE, true, true },        { "while", T_WHILE, true, true },        { "repeat", T_REPEAT, true, false },
	{ "break", T_BREAK, true, false },     { "continue", T_CONTINUE, true, false }, { "return", T_RETURN, true, false },
	{ "acquire", T_ACQUIRE, true, true },  { "release", T_RELEASE, true, true },    { "either", T_EITHER, true, false },
	{ "or", T_OR_WORD, true, false },      { "assume", T_ASSUME, true, false },     { "assert", T_ASSERT, true, false },
	{ "skip", T_SKIP, true, true },        { "atomic", T_ATOMIC, true, false },     { "commit", T_COMMIT, true, false },
	{ "step", T_STEP, true, false },       { "true", T_TRUE, true, true },          { "false", T_FALSE, true, true },
	{ "cas", T_CAS, true, false },         { "exchange", T_EXCHANGE, true, false }, { "fetch_add", T_FETCH_ADD, true, false },
	{ "any", T_ANY, true, false },         { "begin", T_BEGIN, false, true },       { "end", T_END, false, true },
};

const char *token_text(enum tok kind)
{
	assert(kind < T_COUNT);
	static const char *const marks[T_COUNT] = {
		[T_EOF] = "the end of the file",
		[T_NAME] = "a name",
		[T_INT] = "a number",
		[T_LBRACE] = "'{'",
		[T_RBRACE] = "'}'",
		[T_LPAREN] = "'('",
		[T_RPAREN] = "')'",
		[T_LBRACK] = "'['",
		[T_RBRACK] = "']'",
		[T_SEMI] = "';'",
		[T_COMMA] = "','",
		[T_DOT] = "'.'",
		[T_DOTDOT] = "'..'",
		[T_COLON] = "':'",
		[T_REF] = "'&'",
		[T_LABEL_COLON] = "':'",
		[T_QUESTION] = "'?'",
		[T_ASSIGN] = "'='",
		[T_WALRUS] = "':='",
		[T_PLUS] = "'+'",
		[T_MINUS] = "'-'",
		[T_STAR] = "'*'",
		[T_SLASH] = "'/'",
		[T_PERCENT] = "'%'",
		[T_AMP] = "'&'",
		[T_PIPE] = "'|'",
		[T_CARET] = "'^'",
		[T_TILDE] = "'~'",
		[T_BANG] = "'!'",
		[T_LT] = "'<'",
		[T_GT] = "'>'",
		[T_LE] = "'<='",
		[T_GE] = "'>='",
		[T_EQ] = "'=='",
		[T_NE] = "'!='",
		[T_SHL] = "'<<'",
		[T_SHR] = "'>>'",
		[T_ANDAND] = "'&&'",
		[T_OROR] = "'||'",
		[T_INC] = "'++'",
		[T_DEC] = "'--'",
		[T_PLUS_EQ] = "'+='",
		[T_MINUS_EQ] = "'-='",
		[T_STAR_EQ] = "'*='",
		[T_SLASH_EQ] = "'/='",
		[T_PERCENT_EQ] = "'%='",
		[T_AMP_EQ] = "'&='",
		[T_PIPE_EQ] = "'|='",
		[T_CARET_EQ] = "'^='",
		[T_SHL_EQ] = "'<<='",
		[T_SHR_EQ] = "'>>='",
		[T_BOOL] = "'bool'",
		[T_INT_TYPE] = "'int'",
		[T_ENUM] = "'enum'",
		[T_CONST] = "'const'",
		[T_LOCK] = "'lock'",
		[T_SAFE] = "'safe'",
		[T_REGULAR] = "'regular'",
		[T_PROC] = "'proc'",
		[T_VOID] = "'void'",
		[T_THREAD] = "'thread'",
		[T_OBJECT] = "'object'",
		[T_IF] = "'if'",
		[T_ELSE] = "'else'",
		[T_WHILE] = "'while'",
		[T_REPEAT] = "'repeat'",
		[T_BREAK] = "'break'",
		[T_CONTINUE] = "'continue'",
		[T_RETURN] = "'return'",
		[T_ACQUIRE] = "'acquire'",
		[T_RELEASE] = "'release'",
		[T_EITHER] = "'either'",
		[T_OR_WORD] = "'or'",
		[T_ASSUME] = "'assume'",
		[T_ASSERT] = "'assert'",
		[T_SKIP] = "'skip'",
		[T_ATOMIC] = "'atomic'",
		[T_COMMIT] = "'commit'",
		[T_STEP] = "'step'",
		[T_TRUE] = "'true'",
		[T_FALSE] = "'false'",
		[T_CAS] = "'cas'",
		[T_EXCHANGE] = "'exchange'",
		[T_FETCH_ADD] = "'fetch_add'",
		[T_ANY] = "'any'",
		[T_BEGIN] = "'begin'",
		[T_END] = "'end'",
		[T_FOR] = "'for'",
		[T_DO] = "'do'",
		[T_SWITCH] = "'switch'",
		[T_CASE] = "'case'",
		[T_DEFAULT] = "'default'",
		[T_STRUCT] = "'struct'",
	};
	return marks[kind];
}

const char *lex_word(uint32_t i, bool sml)
{
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if ((sml ? words[k].sml : words[k].atm) && !i--)
			return words[k].text;
	return NULL;
}

struct lexer {
	const struct source *src;
	bool sml;
	struct intern *names;
	struct arena *arena;
	struct diags *d;
	uint32_t pos;
	bool line_start;
	uint8_t *word_kind; /* by interned id; words are interned first */
	uint32_t nwords;
	AVEC(struct token) toks;
	AVEC(struct comment) comments;
};

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void emit(struct lexer *l, enum tok kind, uint32_t start, uint32_t end, uint32_t value)
{
	assert(start <= end && end <= l->src->len && kind < T_COUNT);
	struct token t = { (uint8_t)kind, l->line_start, start, end, value };
	avec_push(l->arena, &l->toks, t);
	l->line_start = false;
}

static void lex_name(struct lexer *l)
{
	assert(is_name_start(l->src->text[l->pos]));
	const char *s = l->src->text;
	uint32_t start = l->pos, i = start;
	while (is_name_start(s[i]) || is_digit(s[i]))
		i++;
	uint32_t id = intern_add(l->names, s + start, i - start);
	enum tok kind = id < l->nwords ? l->word_kind[id] : T_NAME;
	emit(l, kind ? kind : T_NAME, start, i, id);
	l->pos = i;
}

static void lex_number(struct lexer *l)
{
	assert(is_digit(l->src->text[l->pos]));
	const char *s = l->src->text;
	uint32_t start = l->pos, i = start, base = 10;
	uint64_t v = 0;
	bool big = false, digits = false;
	if (s[i] == '0' && (s[i + 1] == 'x' || s[i + 1] == 'X')) {
		base = 16;
		i += 2;
	}
	for (;; i++) {
		char c = s[i];
		uint32_t digit;
		if (is_digit(c))
			digit = (uint32_t)(c - '0');
		else if (base == 16 && (c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (uint32_t)((c | 32) - 'a' + 10);
		else
			break;
		digits = true;
		v = v * base + digit;
		if (v > 0x80000000u) {
			big = true;
			v = 0x80000000u;
		}
	}
	if (is_name_start(s[i]) || !digits) {
		while (is_name_start(s[i]) || is_digit(s[i]))
			i++;
		diag_error(l->d, "bad-number", l->src, (struct span){ start, i }, "'%.*s' is not a number",
		           (int)(i - start > 40 ? 40 : i - start), s + start);
		diag_hint(l->d, "numbers are decimal (42) or hexadecimal (0x2A); "
		                "names start with a letter");
	} else if (big) {
		diag_error(l->d, "bad-number", l->src, (struct span){ start, i }, "the number does not fit into 32 bits");
		diag_hint(l->d, "the largest int is 2147483647");
		v = 0; /* so that it is not reported again */
	}
	emit(l, T_INT, start, i, (uint32_t)v);
	l->pos = i;
}

static void skip_block_comment(struct lexer *l)
{
	uint32_t start = l->pos, i = start + 2;
	const char *s = l->src->text;
	while (i < l->src->len && !(s[i] == '*' && s[i + 1] == '/'))
		i++;
	if (i >= l->src->len) {
		diag_error(l->d, "unclosed-comment", l->src, (struct span){ start, start + 2 }, "this comment is never closed");
		diag_hint(l->d, "close it with */");
		l->pos = l->src->len;
	} else {
		l->pos = i + 2;
	}
	struct comment c = { start, l->pos, false };
	avec_push(l->arena, &l->comments, c);
	assert(l->pos <= l->src->len);
}

static void skip_line_comment(struct lexer *l)
{
	uint32_t start = l->pos;
	const char *nl = memchr(l->src->text + start, '\n', l->src->len - start);
	l->pos = nl ? (uint32_t)(nl - l->src->text) : l->src->len;
	uint32_t end = l->pos;
	while (end > start && (l->src->text[end - 1] == '\r' || l->src->text[end - 1] == ' ' || l->src->text[end - 1] == '\t'))
		end--;
	struct comment c = { start, end, true };
	avec_push(l->arena, &l->comments, c);
	assert(start <= end && end <= l->pos);
}

/* Longest first, so that the first match is the right one. */
static const struct {
	const char *text;
	uint8_t len, kind;
} marks[] = {
	{ "<<=", 3, T_SHL_EQ },
	{ ">>=", 3, T_SHR_EQ },
	{ "..", 2, T_DOTDOT },
	{ ":=", 2, T_WALRUS },
	{ "<=", 2, T_LE },
	{ ">=", 2, T_GE },
	{ "==", 2, T_EQ },
	{ "!=", 2, T_NE },
	{ "<<", 2, T_SHL },
	{ ">>", 2, T_SHR },
	{ "&&", 2, T_ANDAND },
	{ "||", 2, T_OROR },
	{ "++", 2, T_INC },
	{ "--", 2, T_DEC },
	{ "+=", 2, T_PLUS_EQ },
	{ "-=", 2, T_MINUS_EQ },
	{ "*=", 2, T_STAR_EQ },
	{ "/=", 2, T_SLASH_EQ },
	{ "%=", 2, T_PERCENT_EQ },
	{ "&=", 2, T_AMP_EQ },
	{ "|=", 2, T_PIPE_EQ },
	{ "^=", 2, T_CARET_EQ },
	{ "{", 1, T_LBRACE },
	{ "}", 1, T_RBRACE },
	{ "(", 1, T_LPAREN },
	{ ")", 1, T_RPAREN },
	{ "[", 1, T_LBRACK },
	{ "]", 1, T_RBRACK },
	{ ";", 1, T_SEMI },
	{ ",", 1, T_COMMA },
	{ ".", 1, T_DOT },
	{ ":", 1, T_COLON },
	{ "?", 1, T_QUESTION },
	{ "=", 1, T_ASSIGN },
	{ "+", 1, T_PLUS },
	{ "-", 1, T_MINUS },
	{ "*", 1, T_STAR },
	{ "/", 1, T_SLASH },
	{ "%", 1, T_PERCENT },
	{ "&", 1, T_AMP },
	{ "|", 1, T_PIPE },
	{ "^", 1, T_CARET },
	{ "~", 1, T_TILDE },
	{ "!", 1, T_BANG },
	{ "<", 1, T_LT },
	{ ">", 1, T_GT },
	/* as the paper prints them */
	{ "\xE2\x89\xA4", 3, T_LE },
	{ "\xE2\x89\xA5", 3, T_GE },
	{ "\xE2\x89\xA0", 3, T_NE },
	{ "\xE2\x88\xA8", 3, T_PIPE },
	{ "\xC2\xAC", 2, T_BANG },
	{ "\xE2\x88\x97", 3, T_STAR },
};

static bool lex_mark(struct lexer *l)
{
	assert(l->pos < l->src->len);
	const char *s = l->src->text + l->pos;
	uint32_t left = l->src->len - l->pos;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		if (s[0] != marks[i].text[0] || marks[i].len > left || memcmp(s, marks[i].text, marks[i].len))
			continue;
		if ((unsigned char)s[0] >= 0x80 && !l->sml)
			diag_error(l->d, "bad-character", l->src, (struct span){ l->pos, l->pos + marks[i].len },
			           "'%s' is written %s in .atm files", marks[i].text,
			           marks[i].kind == T_PIPE ? "'||'" : token_text(marks[i].kind));
		emit(l, marks[i].kind, l->pos, l->pos + marks[i].len, 0);
		l->pos += marks[i].len;
		return true;
	}
	return false;
}

/* Not a token: one message for the whole run of such bytes. */
static void bad_bytes(struct lexer *l)
{
	const char *s = l->src->text;
	uint32_t start = l->pos, cp = 0;
	unsigned n = utf8_decode(s + start, l->src->len - start, &cp);
	struct span at = { start, start + (n ? n : 1) };
	if (s[start] == 0) {
		while (at.end < l->src->len && s[at.end] == 0)
			at.end++;
		diag_error(l->d, "bad-byte", l->src, at, "NUL byte in the text");
		diag_hint(l->d, "is this really a model, or a binary file?");
	} else if (!n) {
		while (at.end < l->src->len && (unsigned char)s[at.end] >= 0x80 &&
		       !utf8_decode(s + at.end, l->src->len - at.end, &cp))
			at.end++;
		diag_error(l->d, "bad-byte", l->src, at, "the text is not valid UTF-8 here");
	} else if (cp == '"' || cp == '\'') {
		while (at.end < l->src->len && s[at.end] != '\n' && s[at.end] != s[start])
			at.end++;
		if (at.end < l->src->len && s[at.end] == s[start])
			at.end++;
		diag_error(l->d, "bad-character", l->src, at, "the model language has no strings or characters");
		emit(l, T_INT, at.start, at.end, 0); /* something was here */
	} else if (cp == '#') {
		while (at.end < l->src->len && s[at.end] != '\n')
			at.end++;
		diag_error(l->d, "bad-character", l->src, at, "the model language has no preprocessor");
		diag_hint(l->d, "constants are written `const N = 4;`, comments // like this");
	} else {
		diag_error(l->d, "bad-character", l->src, at, "unexpected character '%.*s' (U+%04X)", (int)n, s + start,
		           (unsigned)cp);
	}
	l->pos = at.end;
	assert(l->pos <= l->src->len);
}

static void lex_one(struct lexer *l)
{
	assert(l->pos < l->src->len);
	const char *s = l->src->text + l->pos;
	switch (*s) {
	case '\n':
		l->line_start = true;
		/* fall through */
	case ' ':
	case '\t':
	case '\r':
	case '\f':
	case '\v':
		l->pos++;
		return;
	case '/':
		if (s[1] == '/') {
			skip_line_comment(l);
			return;
		}
		if (s[1] == '*') {
			skip_block_comment(l);
			return;
		}
		break;
	default:
		break;
	}
	if (is_name_start(*s))
		lex_name(l);
	else if (is_digit(*s))
		lex_number(l);
	else if (!lex_mark(l))
		bad_bytes(l);
}

struct tokens lex(const struct source *src, bool sml, struct intern *names, struct arena *a, struct diags *d)
{
	struct lexer l = { .src = src, .sml = sml, .names = names, .arena = a, .d = d, .line_start = true };
	uint32_t ids[sizeof words / sizeof *words];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		ids[i] = intern_add(names, words[i].text, strlen(words[i].text));
	l.nwords = names->strs.len;
	l.word_kind = arena_array(a, uint8_t, l.nwords);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (sml ? words[i].sml : words[i].atm)
			l.word_kind[ids[i]] = words[i].kind;
	if (src->len >= 3 && !memcmp(src->text, "\xEF\xBB\xBF", 3))
		l.pos = 3; /* a byte order mark */
	while (l.pos < src->len)
		lex_one(&l);
	l.line_start = true;
	emit(&l, T_EOF, src->len, src->len, 0);
	assert(l.toks.len && l.pos == src->len);
	return (struct tokens){ l.toks.data, l.toks.len, l.comments.data, l.comments.len };
}
