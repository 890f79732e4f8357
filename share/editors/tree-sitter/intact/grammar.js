/**
 * Tree-sitter grammar of models (.atm) and specifications (.spec) of Intact: docs/language.md.
 *
 * The productions are those above the functions of src/lang/parse_*.c. What the type checker decides there is not decided here: operations
 * on locks and the like are calls, and a name before a name is a type. The tree is for editors (colours, folding, selection); what is
 * wrong with a model, and why, `intact lsp` says.
 */

const PREC = { conditional: 1, or: 2, and: 3, bitor: 4, bitxor: 5, bitand: 6, equal: 7, compare: 8, shift: 9, sum: 10, product: 11, unary: 12, call: 13 };

const list = (rule) => seq(rule, repeat(seq(',', rule)));
const binary = ($, table) => choice(...table.map(([ops, p]) => prec.left(p, seq(field('left', $._expression), field('operator', choice(...ops)), field('right', $._expression)))));

module.exports = grammar({
  name: 'intact',

  extras: ($) => [/\s/, $.comment],
  word: ($) => $.identifier,

  rules: {
    source_file: ($) => repeat($._top),

    _top: ($) => choice($.constant, $.thread, $.object, $.pool, $.procedure, $.property, $.declaration),

    // ---- declarations ----

    constant: ($) => seq('const', optional($._type), field('name', $.identifier), '=', field('value', $._expression), ';'),

    thread: ($) => seq('thread', field('name', $.identifier), optional(seq('*', field('count', $._expression))), field('body', $.block)),

    object: ($) => seq('object', field('name', $.identifier), optional(seq(':', field('condition', $.identifier), '(', $._type, ')', optional(seq('=', field('initial', $._expression))))),
      '{', repeat(choice($.declaration, $.procedure)), '}'),

    pool: ($) => seq('pool', field('name', $.identifier), '[', field('cells', $._expression), ']', $.fields, ';'),

    // conditions on states
    property: ($) => seq(choice('always', 'finally', seq('can', 'always', 'reach')), field('condition', $._expression), ';'),

    procedure: ($) => seq(choice('proc', field('result', $._type)), field('name', $.identifier), '(', optional(choice('void', list($.parameter))), ')', field('body', $.block)),
    parameter: ($) => seq(field('type', $._type), choice(field('name', $.identifier), seq('&', field('name', $.identifier), repeat($._dimension)))),

    // enums and structs may declare nothing but their type
    declaration: ($) => choice(
      seq(repeat($.class), field('type', $._type), list($.declarator), ';'),
      seq(choice($.enum, $.struct), ';')),
    class: () => choice('safe', 'regular', 'spurious', 'ghost', 'thread_local'),
    declarator: ($) => seq(field('name', $.identifier), repeat($._dimension), optional(seq('=', field('value', choice($._expression, $.initializer))))),
    _dimension: ($) => seq('[', $._expression, ']'),
    initializer: ($) => seq('{', optional(seq(list($._element), optional(','))), '}'),
    _element: ($) => choice($._expression, $.initializer, $.named_element),
    named_element: ($) => seq('.', field('field', $.identifier), '=', field('value', choice($._expression, $.initializer))),

    // ---- types ----

    _type: ($) => choice($.primitive_type, $.range_type, $.wrap_type, $.channel_type, $.enum, $.struct, $.type_name),
    primitive_type: () => choice('bool', 'int', 'lock', 'void'),
    range_type: ($) => prec(1, seq('int', '[', field('low', $._expression), '..', field('high', $._expression), ']')),
    wrap_type: ($) => seq('wrap', choice($.primitive_type, $.range_type, $.type_name)),
    channel_type: ($) => seq('chan', $._type),
    enum: ($) => prec.right(seq('enum', choice(seq(field('name', $.identifier), optional($.enumerators)), $.enumerators))),
    enumerators: ($) => seq('{', list(alias($.identifier, $.enumerator)), optional(','), '}'),
    struct: ($) => prec.right(seq('struct', choice(seq(field('name', $.identifier), optional($.fields)), $.fields))),
    fields: ($) => seq('{', repeat($.declaration), '}'),
    type_name: ($) => $.identifier,

    // ---- statements ----

    block: ($) => seq('{', repeat($._statement), '}'),

    _statement: ($) => choice($.block, $.if, $.while, $.repeat, $.for, $.do, $.switch, $.either, $.atomic, $.step, $.return, $.word_statement,
      $.declaration, $.simple_statement, ';'),

    if: ($) => prec.right(seq('if', $._condition, field('then', $._statement), optional(seq('else', field('else', $._statement))))),
    while: ($) => seq('while', $._condition, field('body', $._statement)),
    repeat: ($) => seq('repeat', $._condition, field('body', $._statement)),
    do: ($) => seq('do', field('body', $._statement), 'while', $._condition, ';'),
    for: ($) => seq('for', '(', choice($.declaration, seq(optional(list($._simple)), ';')), optional(field('condition', $._expression)), ';',
      optional(list($._simple)), ')', field('body', $._statement)),
    switch: ($) => seq('switch', $._condition, '{', repeat($.case), '}'),
    case: ($) => prec.right(seq(repeat1($.label), repeat($._statement))),
    label: ($) => choice(seq('case', $._expression, ':'), seq('default', ':')),
    either: ($) => prec.right(seq('either', $.block, repeat(seq('or', $.block)))),
    atomic: ($) => seq('atomic', optional(field('name', $.identifier)), field('body', $.block)),
    step: ($) => seq('step', field('body', $.block)),
    return: ($) => seq('return', optional($._expression), ';'),
    word_statement: () => seq(choice('break', 'continue', 'commit', 'skip'), ';'),
    _condition: ($) => seq('(', field('condition', $._expression), ')'),

    simple_statement: ($) => seq($._simple, ';'),
    _simple: ($) => choice($.assignment, $.update, $._expression),
    assignment: ($) => seq(field('place', $._place), field('operator', choice('=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=')), field('value', $._expression)),
    update: ($) => choice(seq($._place, choice('++', '--')), seq(choice('++', '--'), $._place)),

    // ---- expressions ----

    _expression: ($) => choice($.number, $.boolean, $.null, $._place, $.call, $.any, $.unary, $.binary, $.conditional, $.parenthesized),

    _place: ($) => choice($.identifier, $.element, $.member),
    element: ($) => prec(PREC.call, seq(field('array', $._place), '[', field('index', $._expression), ']')),
    member: ($) => prec(PREC.call, seq(field('struct', $._place), '.', field('field', alias($.identifier, $.field_name)))),

    call: ($) => prec(PREC.call, seq(field('procedure', choice($.identifier, $.member)), '(', optional(list($._expression)), ')')),
    any: ($) => seq('any', '(', choice('bool', seq('enum', $.identifier), $._expression, seq(field('low', $._expression), '..', field('high', $._expression))), ')'),
    parenthesized: ($) => seq('(', $._expression, ')'),
    unary: ($) => prec(PREC.unary, seq(field('operator', choice('!', '-', '+', '~')), $._expression)),
    binary: ($) => binary($, [
      [['||'], PREC.or], [['&&'], PREC.and], [['|'], PREC.bitor], [['^'], PREC.bitxor], [['&'], PREC.bitand], [['==', '!='], PREC.equal],
      [['<', '<=', '>', '>='], PREC.compare], [['<<', '>>'], PREC.shift], [['+', '-'], PREC.sum], [['*', '/', '%'], PREC.product]]),
    conditional: ($) => prec.right(PREC.conditional, seq(field('condition', $._expression), '?', field('then', $._expression), ':', field('else', $._expression))),

    // ---- words ----

    boolean: () => choice('true', 'false'),
    null: () => 'null',
    number: () => /0[xX][0-9a-fA-F]+|[0-9]+/,
    identifier: () => /[A-Za-z_][A-Za-z_0-9]*/,
    comment: () => token(choice(seq('//', /[^\n]*/), seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/'))),
  },
});
