package report

// Error is why a peer cannot be judged: there is no report.
type Error struct {
	Usage   bool // the options are wrong
	Message string
	Hint    string
	Err     error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Misuse returns the error for wrong options.
func Misuse(message, hint string) *Error { return &Error{Usage: true, Message: message, Hint: hint} }
