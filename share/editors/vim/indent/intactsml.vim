" begin and { indent what follows by two; end and } go back.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1
setlocal indentexpr=IntactSmlIndent() indentkeys=o,O,0},0=end,0=\|\|,!^F
" here, too: leaving another file type's indentation resets them
setlocal expandtab shiftwidth=2 softtabstop=2
let b:undo_indent = 'setlocal indentexpr< indentkeys< expandtab< shiftwidth< softtabstop<'
if exists('*IntactSmlIndent')
  finish
endif
function! s:Code(lnum) abort
  return substitute(substitute(getline(a:lnum), '//.*$', '', ''), '/\*.\{-}\*/', '', 'g')
endfunction
function! s:Count(text, pattern) abort
  return len(split(a:text, a:pattern, 1)) - 1
endfunction
function! IntactSmlIndent() abort
  let before = prevnonblank(v:lnum - 1)
  let here = s:Code(v:lnum)
  if before == 0 || here =~# '^\s*||'
    return 0
  endif
  let line = s:Code(before)
  let open = s:Count(line, '\<begin\>\|{')
  " what closes at the beginning of the line has moved that line already
  let close = s:Count(substitute(line, '^\s*\%(\%(end\>\|}\)\s*;\?\s*\)\+', '', ''), '\<end\>\|}')
  let closed = s:Count(matchstr(here, '^\s*\%(\%(end\>\|}\)\s*;\?\s*\)\+'), '\<end\>\|}')
  return max([0, indent(before) + (open - close - closed) * shiftwidth()])
endfunction
