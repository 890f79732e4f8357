" Models of Intact. *.sml is also Standard ML and *.spec also RPM: these are told by what the file begins with.
function! s:Looks(good, bad) abort
  for line in getline(1, 60)
    if line =~# a:bad
      return 0
    elseif line =~# a:good
      return 1
    endif
  endfor
  return 0
endfunction
autocmd BufNewFile,BufRead *.atm set filetype=intact
autocmd BufNewFile,BufRead *.sml if s:Looks('^\s*\%(int\s\+\u\w*\|lock\s\+\w\+\|begin\>\|\w\+\s*:=\)', '^\s*\%(fun\|val\|structure\|signature\|datatype\|open\|local\)\>') | set filetype=intactsml | endif
autocmd BufNewFile,BufRead *.spec if s:Looks('^\s*object\s\+\w\+', '^\%(Name\|Version\|Summary\|%\w\+\)') | set filetype=intact | endif
