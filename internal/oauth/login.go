package oauth

import (
	"time"

	"golang.org/x/oauth2"

	"github.com/earshot-dev/earshot/tool/settings"
)

// Login is what is stored of the login at one server.
type Login struct {
	// Server is the address that the tokens are for, as the file of tools has it. They are sent nowhere else.
	Server string `json:"server"`
	// ID is random, and stays the same while the login is renewed. It is empty if there was none yet, and the server asks for
	// one.
	ID    string    `json:"id,omitzero"`
	Since time.Time `json:"since,omitzero"`
	// Ended is why only another login helps, as part of a sentence; "" while it holds.
	Ended string `json:"ended,omitzero"`

	Issuer   string   `json:"issuer,omitzero"`
	Resource string   `json:"resource,omitzero"` // RFC 8707
	Scopes   []string `json:"scopes,omitzero"`
	Client   Client   `json:"client,omitzero"`
	// Networks are those that the operator allows beside the public ones, as CIDR.
	Networks []string `json:"networks,omitzero"`

	TokenURL      string `json:"token_url,omitzero"`
	RevocationURL string `json:"revocation_url,omitzero"`

	AccessToken  string    `json:"access_token,omitzero"`
	RefreshToken string    `json:"refresh_token,omitzero"`
	Expires      time.Time `json:"expires,omitzero"` // of the access token; zero if that is not known
}

// Client is what this program is to the authorization server.
type Client struct {
	ID string `json:"id"`
	// Secret is what the authorization server issued; SecretRef is where the operator's own secret lies.
	Secret    string           `json:"secret,omitzero"`
	SecretRef settings.Secret  `json:"secret_ref,omitzero"`
	Style     oauth2.AuthStyle `json:"style,omitzero"`
}

// expiryMargin is how long before its end an access token is renewed.
const expiryMargin = 10 * time.Second

// Holds reports whether requests can be made with the login, perhaps after renewing it.
func (l Login) Holds(now time.Time) bool {
	return l.ID != "" && l.Ended == "" && (!l.expired(now) || l.RefreshToken != "")
}

func (l Login) expired(now time.Time) bool {
	return !l.Expires.IsZero() && !now.Add(expiryMargin).Before(l.Expires)
}

// take stores the answer of a token endpoint. An answer without a refresh token leaves the one before.
func (l *Login) take(t *oauth2.Token, now time.Time) {
	l.AccessToken, l.Expires = t.AccessToken, time.Time{}
	if t.RefreshToken != "" {
		l.RefreshToken = t.RefreshToken
	}
	if !t.Expiry.IsZero() {
		l.Expires = now.Add(time.Until(t.Expiry)).Round(time.Second)
	}
}
