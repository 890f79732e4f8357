/** Tree-sitter grammar of models in SML (.sml), the notation of the causal-atomicity paper: docs/language.md, SML. */

const PREC = { or: 1, not: 2, compare: 3, sum: 4, product: 5 };

module.exports = grammar({
  name: 'intact_sml',

  extras: ($) => [/\s/, $.comment],
  word: ($) => $.identifier,

  rules: {
    // a || may stand before the first thread and behind the last one; a ; may be left out, as the command warns
    source_file: ($) => seq(repeat($.definition), optional('||'), optional(seq($.thread, repeat(seq('||', $.thread)), optional('||')))),
    definition: ($) => prec.right(seq(choice('int', 'lock'), field('name', $.identifier), optional(';'))),

    thread: ($) => choice($._list, $.null),
    null: () => 'null', // a thread that does nothing
    _list: ($) => prec.right(repeat1(prec.right(seq($._statement, optional(';'))))),

    _statement: ($) => choice($.assignment, $.while, $.if, $.block, $.lock_statement, $.skip),
    assignment: ($) => seq(field('variable', $.identifier), ':=', field('value', $._number)),
    while: ($) => seq('while', $._condition, field('body', $.branch)),
    if: ($) => seq('if', $._condition, field('then', $.branch), 'else', field('else', $.branch)),
    branch: ($) => seq('{', $._list, '}'),
    block: ($) => seq('begin', $._list, 'end'),
    lock_statement: ($) => seq(choice('acquire', 'release'), '(', field('lock', $.identifier), ')'),
    skip: () => 'skip',
    _condition: ($) => seq('(', field('condition', $._expression), ')'),

    // e and b of the paper are one here: what is a number and what a condition the command decides
    _number: ($) => $._expression,
    _expression: ($) => choice($.number, $.boolean, $.identifier, $.not, $.binary, $.parenthesized),
    parenthesized: ($) => seq('(', $._expression, ')'),
    not: ($) => prec(PREC.not, seq(choice('¬', '!'), $._expression)),
    binary: ($) => choice(...[
      [choice('∨', '|'), PREC.or], [choice('<', '≤', '<=', '>', '≥', '>=', '=', '!=', '≠', seq('!', '=')), PREC.compare],
      [choice('+', '-'), PREC.sum], [choice('*', '∗', '/'), PREC.product],
    ].map(([op, p]) => prec.left(p, seq($._expression, op, $._expression)))),

    boolean: () => choice('true', 'false'),
    number: () => /-?[0-9]+/,
    identifier: () => /[A-Za-z_][A-Za-z_0-9]*/,
    comment: () => token(choice(seq('//', /[^\n]*/), seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/'))),
  },
});
