;;; intact-mode.el --- models and specifications of Intact  -*- lexical-binding: t -*-

;; Major modes for .atm, .sml and .spec files: highlighting, indentation, `intact fmt' and `intact check', and the language server for
;; Eglot and lsp-mode.  Put this file on `load-path' and (require 'intact-mode).

;;; Code:

(defgroup intact nil "Models of Intact." :group 'languages)
(defcustom intact-program "intact" "The command." :type 'string)
(defcustom intact-indent-offset 2 "Blanks of a level." :type 'integer :safe #'integerp)

;; A test compares these with the words of the language.
(defconst intact-types '("bool" "int" "enum" "lock" "void" "semaphore" "chan" "struct" "wrap" "u8" "i8" "u16" "i16" "rwlock" "cond" "barrier" "once" "spurious"))
(defconst intact-keywords
  '("const" "safe" "regular" "proc" "thread" "object" "if" "else" "switch" "case" "default" "either" "or" "while" "repeat" "for" "do"
    "break" "continue" "return" "skip" "atomic" "commit" "step" "assume" "assert"
    "ghost" "thread_local" "pool" "always" "finally" "can" "reach"))
(defconst intact-functions
  '("acquire" "release" "wait" "trywait" "post" "signal" "broadcast" "acquire_read" "acquire_write" "call_once" "send" "recv" "try_send" "try_recv" "cas" "exchange"
    "fetch_add" "any" "alloc" "try_alloc" "free" "inside" "held" "leaked"))
(defconst intact-constants '("true" "false" "null"))
(defconst intact-sml-types '("int" "lock"))
(defconst intact-sml-keywords '("if" "else" "while" "begin" "end" "skip"))
(defconst intact-sml-functions '("acquire" "release"))
(defconst intact-sml-constants '("true" "false"))

(defun intact--font-lock (types keywords functions constants)
  "The rules for these lists of words."
  `((,(regexp-opt types 'symbols) . font-lock-type-face)
    (,(regexp-opt keywords 'symbols) . font-lock-keyword-face)
    (,(regexp-opt functions 'symbols) . font-lock-builtin-face)
    (,(regexp-opt constants 'symbols) . font-lock-constant-face)
    ("\\_<\\(?:proc\\|thread\\|object\\|atomic\\)\\s-+\\([[:alpha:]_][[:alnum:]_]*\\)" 1 font-lock-function-name-face)))

(defvar intact-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?\" "." table)
    (modify-syntax-entry ?' "." table)
    table))

(defconst intact--closes "[ \t]*\\(?:}\\|\\_<end\\_>\\)")

(defun intact--change (begin end)
  "Levels opened minus closed from BEGIN to END, outside of comments."
  (save-excursion
    (goto-char begin)
    (let ((levels 0))
      (while (re-search-forward "[{}]\\|\\_<\\(?:begin\\|end\\)\\_>" end t)
        (unless (nth 4 (save-excursion (syntax-ppss (match-beginning 0))))
          (unless (and (eq major-mode 'intact-mode) (member (match-string 0) '("begin" "end")))
            (setq levels (+ levels (if (member (match-string 0) '("{" "begin")) 1 -1))))))
      levels)))

(defun intact--hangs ()
  "Is the line the one statement of an if or a loop without braces?"
  (and (eq major-mode 'intact-mode)
       (not (looking-at "[ \t]*{"))
       (save-excursion
         (forward-comment (- (point)))
         (and (not (memq (char-before) '(?\; ?{ ?} nil)))
              (progn (back-to-indentation)
                     (looking-at "\\(?:}[ \t]*\\)?\\_<\\(?:if\\|else\\|while\\|for\\|repeat\\|do\\)\\_>"))))))

(defun intact-indent-line ()
  "Indent the line as `intact fmt' does."
  (interactive)
  (let ((column
         (save-excursion
           (beginning-of-line)
           (let* ((here (point))
                  (closes (looking-at intact--closes))
                  (label (looking-at "[ \t]*\\_<\\(?:case\\|default\\)\\_>"))
                  (separator (looking-at "[ \t]*||"))
                  (depth (max 0 (intact--change (point-min) here))))
             (cond (separator 0)
                   (closes (* intact-indent-offset (max 0 (1- depth))))
                   (label (* intact-indent-offset (max 0 (1- depth))))
                   ((intact--hangs) (* intact-indent-offset (1+ depth)))
                   (t (* intact-indent-offset depth)))))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

(defun intact-format-buffer ()
  "Put the model into its canonical layout with `intact fmt'."
  (interactive)
  (let ((out (generate-new-buffer " *intact fmt*")) (text (current-buffer)) (point (point)))
    (unwind-protect
        (let ((args (append '("fmt") (and (derived-mode-p 'intact-sml-mode) '("--sml")) '("-"))))
          (if (eq 0 (apply #'call-process-region nil nil intact-program nil (list out nil) nil args))
              (progn (with-current-buffer text (replace-buffer-contents out)) (goto-char (min point (point-max))))
            (user-error "A file with errors is not formatted")))
      (kill-buffer out))))

(defun intact-check ()
  "Check the model with `intact check'."
  (interactive)
  (compile (concat intact-program " check " (shell-quote-argument (buffer-file-name)))))

(defvar intact-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-f") #'intact-format-buffer)
    (define-key map (kbd "C-c C-c") #'intact-check)
    map))

(defun intact--setup ()
  (setq-local comment-start "// " comment-end "" comment-start-skip "\\(?://+\\|/\\*+\\)\\s *")
  (setq-local indent-line-function #'intact-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local electric-indent-chars (append "{};" electric-indent-chars)))

;;;###autoload
(define-derived-mode intact-mode prog-mode "Intact"
  "Models and specifications of Intact (.atm, .spec)."
  (intact--setup)
  (setq-local font-lock-defaults (list (intact--font-lock intact-types intact-keywords intact-functions intact-constants))))

;;;###autoload
(define-derived-mode intact-sml-mode prog-mode "Intact-SML"
  "SML models of Intact."
  :syntax-table intact-mode-syntax-table
  (intact--setup)
  (use-local-map (make-composed-keymap intact-mode-map (current-local-map)))
  (setq-local font-lock-defaults (list (intact--font-lock intact-sml-types intact-sml-keywords intact-sml-functions intact-sml-constants))))

;;;###autoload
(dolist (pair '(("\\.atm\\'" . intact-mode) ("\\.spec\\'" . intact-mode) ("\\.sml\\'" . intact-sml-mode)))
  (add-to-list 'auto-mode-alist pair))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs `((intact-mode intact-sml-mode) . (,intact-program "lsp"))))
(declare-function lsp-register-client "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection (list intact-program "lsp"))
                    :major-modes '(intact-mode intact-sml-mode) :server-id 'intact)))

(provide 'intact-mode)
;;; intact-mode.el ends here
