package oidc

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/oauth2"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

const (
	// requestTime is the limit of fetching the keys, both documents together.
	requestTime = 5 * time.Second
	maxDocument = 1 << 20
	// renewAfter is when the keys are fetched again, so that one that the provider has withdrawn stops counting; keysLife is how long
	// they count while the provider cannot be asked.
	renewAfter = 5 * time.Minute
	keysLife   = 15 * time.Minute
	// tryAfter is the shortest time between two tries: a token that names an unknown key has the keys fetched, and anybody can send one.
	tryAfter = 10 * time.Second

	minRSABits = 2048
)

// errNoKey is what a token gets whose key the provider does not have.
var errNoKey = errors.New("the key that has signed it is not one of the provider's")

var errStatus = errors.New("expected 200 OK")

// keys are the provider's keys. They are fetched when they are needed, by the first request that needs them; others wait for that.
type keys struct {
	issuer string
	client *http.Client
	o      Options

	mu      sync.Mutex
	known   document
	fetched time.Time // zero if never
	tried   time.Time
}

// document is what the provider publishes about itself.
type document struct {
	keys   []jose.JSONWebKey
	logins oauth2.Endpoint // where people log in, and where the code that they bring becomes a token; empty if nowhere
}

func newKeys(o Options) *keys {
	return &keys{issuer: o.Issuer, o: o, client: &http.Client{
		Transport: bounded{o.Transport},
		CheckRedirect: func(q *http.Request, via []*http.Request) error {
			if q.URL.Scheme != via[0].URL.Scheme || q.URL.Host != via[0].URL.Host || len(via) >= 3 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// fit returns the keys that may have signed a token with this header. Errors: provider_away, and [errNoKey].
func (k *keys) fit(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.named(id, algorithm)
	if len(found) == 0 || k.passed(k.fetched, renewAfter) {
		k.fetch(ctx)
		found = k.named(id, algorithm)
	}
	if k.passed(k.fetched, keysLife) {
		return nil, k.away("for its keys, so that its tokens do not count now")
	}
	if len(found) == 0 {
		return nil, errNoKey
	}
	return found, nil
}

// endpoint returns where people log in. Errors: provider_away, also if it is nowhere.
func (k *keys) endpoint(ctx context.Context) (oauth2.Endpoint, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.passed(k.fetched, renewAfter) {
		k.fetch(ctx)
	}
	if k.passed(k.fetched, keysLife) || k.known.logins.AuthURL == "" {
		return oauth2.Endpoint{}, k.away("where people log in")
	}
	return k.known.logins, nil
}

func (k *keys) away(what string) error {
	return &access.Error{Code: access.CodeAway, Message: "the identity provider " + k.issuer + " cannot be asked " + what, Hint: "try again in a moment"}
}

// passed reports whether so much time has passed since then. A clock that was set back counts as that.
func (k *keys) passed(since time.Time, d time.Duration) bool {
	age := k.o.Now().Sub(since)
	return age < 0 || age >= d
}

func (k *keys) named(id, algorithm string) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for _, key := range k.known.keys {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == algorithm) {
			found = append(found, key)
		}
	}
	return found
}

// fetch fetches the keys if that was not tried just now. The caller holds mu.
func (k *keys) fetch(ctx context.Context) {
	if !k.passed(k.tried, tryAfter) {
		return
	}
	k.tried = k.o.Now()
	if err := k.renew(ctx); err != nil {
		k.o.Logger.WarnContext(ctx, "the identity provider cannot be asked for its keys; that is tried again with the next token", "issuer", k.issuer, "reason", err)
	}
}

// renew takes the keys that the provider has now; where it cannot be asked, those from before stay. The caller holds mu.
func (k *keys) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	known, err := k.read(ctx)
	if err == nil {
		k.known, k.fetched = known, k.o.Now()
	}
	return err
}

// read reads the provider's document, which has to be about this issuer, and the keys that it names.
func (k *keys) read(ctx context.Context) (document, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, k.client), k.issuer)
	if err != nil {
		return document{}, err //nolint:wrapcheck // it says what it has asked for
	}
	var named struct {
		Keys    string   `json:"jwks_uri"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&named); err != nil {
		return document{}, fmt.Errorf("its document of configuration: %w", err)
	}
	if !private(named.Keys) {
		return document{}, fmt.Errorf("its keys are at %q, expected an address of HTTPS", named.Keys)
	}
	set, err := k.readKeys(ctx, named.Keys)
	out := document{keys: set}
	if at := provider.Endpoint(); private(at.AuthURL) && private(at.TokenURL) {
		out.logins = oauth2.Endpoint{AuthURL: at.AuthURL, TokenURL: at.TokenURL, AuthStyle: oauth2.AuthStyleInHeader} // the default of OpenID Connect Discovery
		if len(named.Methods) > 0 && !slices.Contains(named.Methods, "client_secret_basic") {
			out.logins.AuthStyle = oauth2.AuthStyleInParams
		}
	}
	return out, err
}

// private reports whether nobody on the way can read or change what is sent to an address.
func private(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && onLoopback(u))
}

func (k *keys) readKeys(ctx context.Context, at string) ([]jose.JSONWebKey, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("its keys: %w", err)
	}
	answer, err := k.client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("its keys: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("its keys at %s: found %s, %w", at, answer.Status, cmp.Or(err, errStatus))
	}
	return parseKeys(raw)
}

// parseKeys reads a set of keys, without those that sign nothing here.
func parseKeys(raw []byte) ([]jose.JSONWebKey, error) {
	var document struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("its keys: %w", err)
	}
	var set []jose.JSONWebKey
	for _, one := range document.Keys {
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON(one); err == nil && usable(key) {
			set = append(set, key)
		}
	}
	if len(set) == 0 {
		return nil, fmt.Errorf("none of its %d keys is a public key for signatures", len(document.Keys))
	}
	return set, nil
}

// usable reports whether a key verifies signatures. A secret one never does: it would let the verifier sign.
func usable(key jose.JSONWebKey) bool {
	if !slices.Contains([]string{"", "sig"}, key.Use) || !key.Valid() {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// bounded cuts documents off that are too large, so that they cannot be read.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(q)
	if err != nil {
		return nil, err //nolint:wrapcheck // as the connection says it
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxDocument)
	return answer, nil
}
