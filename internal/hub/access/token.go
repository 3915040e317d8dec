package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
)

// Token is the stored record of a token, without its secret. It may be shown.
type Token struct {
	// ID is created with the token and never reused, even for a token with the same name.
	ID string `json:"id"`
	// Name is the name by which people refer to the token.
	Name string `json:"name"`
	// Person is the principal's name.
	Person   string    `json:"person"`
	Roles    []Role    `json:"roles"`
	Projects []string  `json:"projects,omitzero"`
	Owners   []string  `json:"owners,omitzero"`
	Surface  string    `json:"surface"`
	Created  time.Time `json:"created"`
	// SHA256 is the hash of the secret, in hex.
	SHA256 string `json:"sha256"`
}

// Describe returns the token in one line, without its name.
func (t Token) Describe() string {
	words := make([]string, 0, len(t.Roles))
	for _, r := range t.Roles {
		words = append(words, string(r))
	}
	line := strings.Join(words, ", ") + " for " + t.Person
	if len(t.Owners) > 0 {
		line += ", also in sessions of " + strings.Join(t.Owners, ", ")
	}
	if len(t.Projects) > 0 {
		line += ", in the project " + strings.Join(t.Projects, ", ")
	}
	if slices.Contains(t.Roles, Agent) {
		return line + ", answers nothing."
	}
	return line + ", answers on " + t.Surface + "."
}

// NewToken describes a token to create.
type NewToken struct {
	// Name is 1 to 64 characters without spaces or control characters. Required.
	Name string
	// Person is the principal's name; default Name. A person may have several tokens.
	Person string
	// Roles are required. The role of an agent or a tool cannot be combined with another.
	Roles []Role
	// Projects and Owners are as in [Principal].
	Projects, Owners []string
	// Surface is where answers given with the token come from; default Name.
	Surface string
}

// principal returns the principal of the token.
func (t Token) principal() Principal {
	return Principal{
		Name: t.Person, Roles: slices.Clone(t.Roles), Projects: slices.Clone(t.Projects),
		Owners: slices.Clone(t.Owners), Surface: t.Surface, Credential: tokenPrefix + t.ID,
	}
}

const (
	tokenPrefix   = "token:"
	grantPrefix   = "grant:"
	sessionPrefix = "session:"
	// providerPrefix begins the credentials of an identity provider, and the names of the people that it vouches for.
	providerPrefix = "oidc:"

	// secretPrefix lets people and secret scanners recognize a secret.
	secretPrefix = "earshot_"
	secretBytes  = 32
	idBytes      = 8
	maxName      = 64
)

func (n NewToken) token(now time.Time) (Token, error) {
	t := Token{
		Name: n.Name, Person: n.Person, Roles: slices.Compact(slices.Sorted(slices.Values(n.Roles))),
		Projects: n.Projects, Owners: n.Owners, Surface: n.Surface, Created: now.UTC().Truncate(time.Second),
	}
	if t.Person == "" {
		t.Person = n.Name
	}
	if t.Surface == "" {
		t.Surface = n.Name
	}
	return t, t.check()
}

func (t Token) check() error {
	for what, name := range map[string]string{"name": t.Name, "person": t.Person, "surface": t.Surface} {
		if !isName(name) {
			return invalid(fmt.Sprintf("the %s %q is not usable: expected 1 to %d characters without spaces or controls", what, name, maxName))
		}
	}
	if strings.HasPrefix(t.Person, providerPrefix) {
		return invalid("the person " + t.Person + " would be one of an identity provider, whose names begin with " + providerPrefix)
	}
	for _, owner := range slices.Concat(t.Owners, t.Projects) {
		if !isName(owner) {
			return invalid(fmt.Sprintf("the owner or project %q is not usable: expected 1 to %d characters without spaces or controls", owner, maxName))
		}
	}
	if len(t.Roles) == 0 {
		return invalid("a token without a role can do nothing: expected one or more of " + list(api.Roles()))
	}
	for _, role := range t.Roles {
		if !slices.Contains(api.Roles(), role) {
			return invalid(fmt.Sprintf("there is no role %q: expected %s", role, list(api.Roles())))
		}
	}
	if len(t.Roles) > 1 && t.principal().Has(Agent, Tool) {
		return invalid("an agent or a tool has no other role beside it: who asks for a call never approves it")
	}
	return nil
}

func invalid(message string) error {
	return &Error{Code: CodeInvalid, Message: message, Hint: "correct it and try again"}
}

func isName(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}

func list(roles []Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}

// newSecret generates a secret of 256 bits and returns it in printable form, with its hash.
func newSecret(from io.Reader, prefix string) (secret, hash string, err error) {
	if from == nil {
		from = rand.Reader
	}
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(from, raw); err != nil {
		return "", "", fmt.Errorf("access: randomness: %w", err)
	}
	secret = prefix + base64.RawURLEncoding.EncodeToString(raw)
	return secret, hashed(secret), nil
}

func newID(from io.Reader) (string, error) {
	raw := make([]byte, idBytes)
	if _, err := io.ReadFull(from, raw); err != nil {
		return "", fmt.Errorf("access: randomness: %w", err)
	}
	return hex.EncodeToString(raw), nil
}

// hashed returns the hash under which a secret is stored. A secret has 256 random bits: a plain hash is enough, and
// looking it up by hash reveals nothing about the secret.
func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
