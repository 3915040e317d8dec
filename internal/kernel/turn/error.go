package turn

import "github.com/earshot-dev/earshot/utp"

// Error is a refused input. Code is one of the protocol's codes.
type Error struct {
	Code    utp.Code
	Message string
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func refuse(code utp.Code, message string) error { return &Error{Code: code, Message: message} }
