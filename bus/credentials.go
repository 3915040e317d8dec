package bus

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
)

// Login is the secret of one connection. It prints and logs without the password.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
	// Inbox is the prefix of the only reply subjects that the connection may hear.
	Inbox string `json:"inbox"`
}

// String returns the user.
func (l Login) String() string { return l.User }

// GoString returns the user.
func (l Login) GoString() string { return "bus.Login{" + l.User + "}" }

// LogValue returns the user.
func (l Login) LogValue() slog.Value { return slog.StringValue(l.User) }

// Credentials are all that a process needs to be one principal on the bus.
type Credentials struct {
	// URL is where the bus listens; "" when it does not.
	URL       string    `json:"url,omitempty"`
	Project   string    `json:"project"`
	Principal Principal `json:"principal"`
	// Mouth asks the kernel and hears its answers. Ear hears commands, the doorbell or
	// broadcasts, and publishes nothing.
	Mouth Login `json:"mouth"`
	Ear   Login `json:"ear"`
}

// newLogin draws 256 bits for the password and 128 for the inbox.
func newLogin(random io.Reader, user string) (Login, error) {
	bits := make([]byte, 48)
	if _, err := io.ReadFull(random, bits); err != nil {
		return Login{}, &Error{Code: CodeFailed, Message: fmt.Sprintf("no randomness for the credentials of %s: %s", user, err), Err: err}
	}
	text := base64.RawURLEncoding.EncodeToString
	return Login{User: user, Password: text(bits[:32]), Inbox: "_INBOX_" + text(bits[32:])}, nil
}
