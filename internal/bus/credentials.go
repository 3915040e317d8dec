package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/utp"
)

// Login is the user and secret of one connection. It prints and logs without the password.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
	// Inbox is the prefix of the only reply subjects that the connection may subscribe to.
	Inbox string `json:"inbox"`
}

// String returns the user.
func (l Login) String() string { return l.User }

// GoString returns the user.
func (l Login) GoString() string { return "bus.Login{" + l.User + "}" }

// LogValue returns the user.
func (l Login) LogValue() slog.Value { return slog.StringValue(l.User) }

// Credentials are all that a process needs to act as one principal on the bus.
type Credentials struct {
	// URL is where the bus listens; "" if it does not.
	URL       string    `json:"url,omitempty"`
	Project   string    `json:"project"`
	Principal Principal `json:"principal"`
	// Request sends requests to the kernel and receives the answers. Subscribe receives commands, wakeups or
	// broadcasts, and publishes nothing.
	Request   Login `json:"mouth"`
	Subscribe Login `json:"ear"`
	// Discovery answers discovery ($SRV) and does nothing else. Kind Tool only.
	Discovery Login `json:"face,omitzero"`
	// Tools are the names of further tools that it may register, see [Credentials.Owns]. Kinds Tool and External only.
	Tools []string `json:"tools,omitempty"`
}

// KernelCredentials are all that another process needs to be a kernel on the bus: to answer everybody's requests and to
// publish commands. Anyone who has them can act as the gate.
type KernelCredentials struct {
	URL        string `json:"url"`
	Project    string `json:"project"`
	MaxPayload int    `json:"max_payload"`
	// Events says that the kernel may publish the events of agents.
	Events    bool  `json:"events,omitzero"`
	Responder Login `json:"responder"`
	Publisher Login `json:"publisher"`
}

// login creates the secret of a user once: derived from the key if there is one, otherwise random.
func (p *plan) login(user string) (Login, error) {
	if len(p.key) == 0 {
		l, drawn := p.existing[user]
		if drawn {
			return l, nil
		}
		l, err := newLogin(p.random, user)
		p.existing[user] = l
		return l, err
	}
	derive := func(what string) []byte {
		sum := hmac.New(sha256.New, p.key)
		_, _ = io.WriteString(sum, "earshot-bus-1\n"+what+"\n"+p.project+"\n"+user) // a hash never fails
		return sum.Sum(nil)
	}
	text := base64.RawURLEncoding.EncodeToString
	return Login{User: user, Password: text(derive("password")), Inbox: inboxPrefix + text(derive("inbox")[:16])}, nil
}

// NewCredentials generates the secrets of a principal. Store them and pass them to the bus in [Options.Known] each time
// it starts. Errors: invalid for a name, failed if there is no randomness.
func NewCredentials(random io.Reader, project string, p Principal) (Credentials, error) {
	return newCredentials(project, p, func(user string) (Login, error) { return newLogin(random, user) })
}

// Owns reports whether the principal owns a tool name: its own name, alone or before a dot, or one on its list. A
// principal's name contains no dot, so no tool name can begin with the names of two principals.
func (c Credentials) Owns(tool string) bool {
	if c.Principal.Kind != Tool && c.Principal.Kind != External {
		return false
	}
	prefix, _, _ := strings.Cut(tool, ".")
	return prefix == c.Principal.Name || slices.Contains(c.Tools, tool)
}

func newCredentials(project string, p Principal, login func(user string) (Login, error)) (Credentials, error) {
	if err := p.check(); err != nil {
		return Credentials{}, err
	}
	if !isToken(project) {
		return Credentials{}, invalidf("project %q is not a subject token; use 1 to %d of A-Z a-z 0-9 _ -", project, maxToken)
	}
	c := Credentials{Project: project, Principal: p}
	for _, l := range c.logins() {
		var err error
		if *l.login, err = login(l.user); err != nil {
			return Credentials{}, err
		}
	}
	return c, nil
}

// namedLogin is a login with its required user name.
type namedLogin struct {
	user  string
	login *Login
}

// logins returns those that the principal's kind requires.
func (c *Credentials) logins() []namedLogin {
	user := prefixOf(c.Project) + string(c.Principal.Kind) + "." + c.Principal.Name
	all := []namedLogin{{user + ".mouth", &c.Request}, {user + ".ear", &c.Subscribe}}
	if c.Principal.Kind == Tool {
		all = append(all, namedLogin{user + ".face", &c.Discovery})
	}
	return all
}

// check refuses credentials that were not made by [NewCredentials]. An inbox is a permission, and the server would
// treat a password of a certain form as a hash.
func (c Credentials) check(project string) error {
	if err := c.Principal.check(); err != nil {
		return err
	}
	if c.Project != project {
		return invalidf("the credentials of %s are for the project %q; this one is %q", c.Principal, c.Project, project)
	}
	if len(c.Tools) > 0 && c.Principal.Kind != Tool && c.Principal.Kind != External {
		return invalidf("the credentials of %s list tools, and only a tool service or a foreign peer has any", c.Principal)
	}
	for _, tool := range c.Tools {
		if !utp.ValidToolName(tool) {
			return invalidf("the credentials of %s list the tool %q; a name is 1 to 128 of A-Z a-z 0-9 _ - .", c.Principal, tool)
		}
	}
	for _, l := range c.logins() {
		secret, found := strings.CutPrefix(l.login.Inbox, inboxPrefix)
		if l.login.User != l.user || !isToken(l.login.Password) || len(l.login.Password) < minPassword || !found || !isToken(secret) {
			return invalidf("the credentials of %s are damaged at %s; make new ones", c.Principal, l.user)
		}
	}
	return nil
}

const (
	inboxPrefix = "_INBOX_"
	minPassword = 43 // 256 bits
)

// newLogin generates a password of 256 random bits and an inbox of 128.
func newLogin(random io.Reader, user string) (Login, error) {
	bits := make([]byte, 48)
	if _, err := io.ReadFull(random, bits); err != nil {
		return Login{}, &Error{Code: CodeFailed, Message: fmt.Sprintf("no randomness for the credentials of %s: %s", user, err), Err: err}
	}
	text := base64.RawURLEncoding.EncodeToString
	return Login{User: user, Password: text(bits[:32]), Inbox: inboxPrefix + text(bits[32:])}, nil
}
