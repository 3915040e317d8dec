package oidc_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/oidc"
	"github.com/earshot-dev/earshot/internal/testkit/oidctest"
)

// clock is a clock that a test sets, and that stands still otherwise.
type clock struct {
	begun time.Time
	ahead atomic.Int64
}

func newClock() *clock                   { return &clock{begun: time.Now()} }
func (c *clock) now() time.Time          { return c.begun.Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

func verifier(t *testing.T, p *oidctest.Provider, c *clock, changes ...func(*oidc.Options)) *oidc.Verifier {
	t.Helper()
	o := oidc.Options{
		Issuer: p.URL, Audience: oidctest.Audience, Now: c.now,
		Roles: []string{"ears=listener", "hands=listener", "hands=approver", "cn=ops,dc=example=operator"}, Owners: []string{"hands=anna"},
	}
	for _, change := range changes {
		change(&o)
	}
	v, err := oidc.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// codeOf returns the code and the message of an error of a verifier.
func codeOf(err error) (access.Code, string) {
	if e, is := errors.AsType[*access.Error](err); is {
		return e.Code, e.Message
	}
	return "", ""
}

// TestRoles: what the provider says is what the operator has mapped, and nothing else.
func TestRoles(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	v := verifier(t, p, newClock())
	for _, row := range []struct {
		groups []string
		roles  []api.Role
		owners []string
	}{
		{[]string{"ears"}, []api.Role{api.RoleListener}, nil},
		{[]string{"hands", "others"}, []api.Role{api.RoleListener, api.RoleApprover}, []string{"anna"}},
		{[]string{"cn=ops,dc=example"}, []api.Role{api.RoleOperator}, nil},
		{[]string{"EARS"}, nil, nil},
		{[]string{"listener"}, nil, nil},
		{nil, nil, nil},
	} {
		got, err := v.Verify(p.Token(oidctest.Grant{Subject: "alice", Groups: row.groups}))
		code, _ := codeOf(err)
		if row.roles == nil {
			if code != access.CodeNoRole {
				t.Errorf("%v: %v, want no role", row.groups, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Roles, row.roles) || !slices.Equal(got.Owners, row.owners) || got.Subject != "alice" || got.Issuer != p.URL || got.Unattended == "" {
			t.Errorf("%v: %+v, %v", row.groups, got, err)
		}
		if left := time.Until(got.Expires); left < 59*time.Minute || left > time.Hour {
			t.Errorf("%v: it expires in %s", row.groups, left)
		}
	}
	accepts := verifier(t, p, newClock(), func(o *oidc.Options) { o.Accept = true })
	if got, err := accepts.Verify(p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"hands"}})); err != nil || got.Unattended != "" {
		t.Errorf("where the operator lets them accept: %+v, %v", got, err)
	}
}

// forged signs claims as nobody but an attacker or a broken provider would.
func forged(t *testing.T, with jose.SigningKey, typ string, claims map[string]any) string {
	t.Helper()
	o := &jose.SignerOptions{}
	if typ != "" {
		o = o.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(with, o)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func segment(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// TestHostile: no token counts that the provider has not signed, with a public key, for this server and for now.
func TestHostile(t *testing.T) {
	t.Parallel()
	p, other := oidctest.New(t), oidctest.New(t)
	v := verifier(t, p, newClock())
	id, private := p.Key()
	_, strange := other.Key()
	now := time.Now()
	good := map[string]any{"iss": p.URL, "sub": "alice", "aud": oidctest.Audience, "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "groups": []string{"hands"}}
	with := func(name string, value any) map[string]any {
		changed := maps.Clone(good)
		changed[name] = value
		if value == nil {
			delete(changed, name)
		}
		return changed
	}
	signs := func(key any, kid string) jose.SigningKey {
		return jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: kid}}
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	hmac := jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: id}}
	payload, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	whole := forged(t, signs(private, id), "", good)
	parts := strings.Split(whole, ".")

	if _, err := v.Verify(whole); err != nil {
		t.Fatalf("the token that the others are made of: %v", err)
	}
	if _, err := v.Verify(forged(t, signs(private, id), "at+jwt", good)); err != nil {
		t.Errorf("an access token of RFC 9068: %v", err)
	}
	if _, err := v.Verify(forged(t, signs(private, ""), "", with("aud", []string{"x", oidctest.Audience}))); err != nil {
		t.Errorf("without a key id, and for two: %v", err)
	}
	for name, row := range map[string]struct{ token, says string }{
		"nothing":                     {"", "neither one of this server"},
		"nonsense":                    {"a.b.c", "neither one of this server"},
		"a signature by nobody":       {segment(`{"alg":"none"}`) + "." + segment(string(payload)) + ".", "neither one of this server"},
		"nobody's, in capitals":       {segment(`{"alg":"NONE"}`) + "." + segment(string(payload)) + ".", "neither one of this server"},
		"HS256 with the public key":   {forged(t, hmac, "", good), "neither one of this server"},
		"another algorithm":           {forged(t, jose.SigningKey{Algorithm: jose.PS256, Key: jose.JSONWebKey{Key: private, KeyID: id}}, "", good), "not one of the provider's"},
		"another provider's key":      {forged(t, signs(strange, id), "", good), "its signature or its form is wrong"},
		"an unknown key":              {forged(t, signs(strange, "key-9"), "", good), "not one of the provider's"},
		"another provider's token":    {other.Token(oidctest.Grant{Subject: "alice", Groups: []string{"hands"}}), "its signature or its form is wrong"},
		"other claims":                {parts[0] + "." + segment(`{"sub":"root"}`) + "." + parts[2], "its signature or its form is wrong"},
		"for another server":          {p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"hands"}, Audience: "wiki"}), "not for this server"},
		"for nobody":                  {forged(t, signs(private, id), "", with("aud", nil)), "not for this server"},
		"of another issuer":           {forged(t, signs(private, id), "", with("iss", p.URL+"/")), "another issuer"},
		"of no issuer":                {forged(t, signs(private, id), "", with("iss", nil)), "another issuer"},
		"expired":                     {forged(t, signs(private, id), "", with("exp", now.Add(-time.Second).Unix())), "has expired at"},
		"without an end":              {forged(t, signs(private, id), "", with("exp", nil)), "has expired at"},
		"not yet":                     {forged(t, signs(private, id), "", with("nbf", now.Add(10*time.Minute).Unix())), "does not count yet"},
		"of nobody":                   {forged(t, signs(private, id), "", with("sub", nil)), "names nobody"},
		"of somebody endless":         {forged(t, signs(private, id), "", with("sub", strings.Repeat("a", 256))), "names nobody"},
		"a logout":                    {forged(t, signs(private, id), "logout+jwt", good), "not one for access"},
		"a logout, by its claims":     {forged(t, signs(private, id), "", with("events", map[string]any{})), "one of a logout"},
		"a claim twice":               {forgedText(t, signs(private, id), strings.Replace(string(payload), "{", `{"groups":["ears"],`, 1)), "cannot be read"},
		"larger than it may be":       {forged(t, signs(private, id), "", with("x", strings.Repeat("a", 16<<10))), "larger than 16 KiB"},
		"all of it in one JSON":       {`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, "neither one of this server"},
		"with an address for its key": {forgedWith(t, strange, other.URL+"/keys", good), "its signature or its form is wrong"},
	} {
		got, err := v.Verify(row.token)
		if code, message := codeOf(err); code != access.CodeUnknown || !strings.Contains(message, row.says) {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, row.says)
		}
	}
}

func forgedText(t *testing.T, with jose.SigningKey, payload string) string {
	t.Helper()
	signer, err := jose.NewSigner(with, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// forgedWith signs with a key that the token itself names.
func forgedWith(t *testing.T, private *rsa.PrivateKey, address string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: private}, (&jose.SignerOptions{EmbedJWK: true}).WithHeader("jku", address))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestRotation: a new key counts at once, one that is withdrawn no longer after a while, and unknown ones do not have the provider asked
// again and again.
func TestRotation(t *testing.T) {
	t.Parallel()
	p, c := oidctest.New(t), newClock()
	v := verifier(t, p, c)
	g := oidctest.Grant{Subject: "alice", Groups: []string{"ears"}}
	verify := func(token string) error { _, err := v.Verify(token); return err }
	old := p.Token(g)
	if err := verify(old); err != nil {
		t.Fatal(err)
	}
	p.Rotate()
	renewed := p.Token(g)
	if code, _ := codeOf(verify(renewed)); code != access.CodeUnknown {
		t.Error("the keys are fetched twice within a moment")
	}
	c.advance(10 * time.Second)
	if err := errors.Join(verify(renewed), verify(old)); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	p.Withdraw()
	if err := verify(old); err != nil {
		t.Errorf("before the keys are looked at again: %v", err)
	}
	c.advance(5 * time.Minute)
	if err := verify(renewed); err != nil {
		t.Error(err)
	}
	if code, _ := codeOf(verify(old)); code != access.CodeUnknown {
		t.Error("a key that was withdrawn still counts")
	}
	_, strange := oidctest.New(t).Key()
	hostile := forged(t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: strange, KeyID: "key-77"}}, "", map[string]any{"iss": p.URL})
	before := p.Fetched.Load()
	for range 100 {
		_ = verify(hostile)
	}
	if n := p.Fetched.Load() - before; n > 1 {
		t.Errorf("100 tokens with an unknown key have the keys fetched %d times", n)
	}
}

// TestAway: while the provider cannot be asked, the keys that are known count for a while, and then nothing does, until it can.
func TestAway(t *testing.T) {
	t.Parallel()
	p, c := oidctest.New(t), newClock()
	token := p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"ears"}, Life: 10 * time.Hour})
	verify := func(v *oidc.Verifier) access.Code {
		_, err := v.Verify(token)
		code, message := codeOf(err)
		if code == access.CodeAway && !strings.Contains(message, p.URL) {
			t.Errorf("it does not say who is away: %s", message)
		}
		return code
	}
	p.Away.Store(true)
	late := verifier(t, p, c)
	if err := late.Reach(t.Context()); err == nil {
		t.Error("a provider that is away is reached")
	}
	if code := verify(late); code != access.CodeAway {
		t.Errorf("away from the start: %q", code)
	}
	p.Away.Store(false)
	if code := verify(late); code != access.CodeAway {
		t.Errorf("it is asked again at once: %q", code)
	}
	c.advance(10 * time.Second)
	if code := verify(late); code != "" {
		t.Errorf("it is back: %q", code)
	}
	p.Away.Store(true)
	for _, step := range []struct {
		after time.Duration
		want  access.Code
	}{{time.Minute, ""}, {6 * time.Minute, ""}, {7 * time.Minute, ""}, {2 * time.Minute, access.CodeAway}, {time.Hour, access.CodeAway}} {
		c.advance(step.after)
		if code := verify(late); code != step.want {
			t.Errorf("%s later: %q, want %q", step.after, code, step.want)
		}
	}
	p.Away.Store(false)
	c.advance(10 * time.Second)
	if code := verify(late); code != "" {
		t.Errorf("it is back again: %q", code)
	}
}

// TestClaims: roles are found in a text, in a list, in an object within, and nowhere else.
func TestClaims(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	id, private := p.Key()
	sign := func(name string, value any) string {
		return forged(t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: id}}, "", map[string]any{
			"iss": p.URL, "sub": "alice", "aud": oidctest.Audience, "exp": time.Now().Add(time.Hour).Unix(), name: value,
		})
	}
	for _, row := range []struct {
		claim, name string
		value       any
		code        access.Code
		says        string
	}{
		{"groups", "groups", "ears", "", ""},
		{"groups", "groups", "ears hands", access.CodeNoRole, "no value of its claim groups"},
		{"scope", "scope", "openid ears", "", ""},
		{"realm_access.roles", "realm_access", map[string]any{"roles": []string{"ears"}}, "", ""},
		{"https://example.org/roles", "https://example.org/roles", []string{"ears"}, "", ""},
		{"realm_access.roles", "realm_access", map[string]any{"other": []string{"ears"}}, access.CodeNoRole, "it has no claim realm_access.roles"},
		{"realm_access.roles", "realm_access", "ears", access.CodeNoRole, "it has no claim realm_access.roles"},
		{"groups", "other", []string{"ears"}, access.CodeNoRole, "it has no claim groups"},
		{"groups", "groups", map[string]any{"ears": true}, access.CodeNoRole, "neither a text nor a list"},
		{"groups", "groups", []any{"ears", 1}, access.CodeNoRole, "neither a text nor a list"},
		{"groups", "groups", nil, access.CodeNoRole, ""},
		{"sub", "x", "x", access.CodeNoRole, "no value of its claim sub"},
	} {
		v := verifier(t, p, newClock(), func(o *oidc.Options) { o.Claim = row.claim })
		_, err := v.Verify(sign(row.name, row.value))
		if code, message := codeOf(err); code != row.code || !strings.Contains(message, row.says) {
			t.Errorf("%s from %s %v: %v; want %q %q", row.claim, row.name, row.value, err, row.code, row.says)
		}
	}
}

// TestOptions: what would let strangers in, or nobody, is refused, and says what to do.
func TestOptions(t *testing.T) {
	t.Parallel()
	good := oidc.Options{Issuer: "https://id.example.org", Audience: "earshot", Roles: []string{"ears=listener"}}
	for _, row := range []struct {
		name, says string
		change     func(*oidc.Options)
	}{
		{"all of it", "", func(*oidc.Options) {}},
		{"no issuer", "--oidc-issuer", func(o *oidc.Options) { o.Issuer = "" }},
		{"not an address", "is not the address of a provider", func(o *oidc.Options) { o.Issuer = "id.example.org" }},
		{"plain HTTP", "plain HTTP can be changed on its way", func(o *oidc.Options) { o.Issuer = "http://id.example.org" }},
		{"plain HTTP on this machine", "", func(o *oidc.Options) { o.Issuer = "http://127.0.0.1:9000/realms/x" }},
		{"no audience", "needs --oidc-client-id", func(o *oidc.Options) { o.Audience = "" }},
		{"logins alone", "", func(o *oidc.Options) { o.Audience, o.ClientID = "", "earshot-page" }},
		{"a secret without its id", "which need --oidc-client-id", func(o *oidc.Options) { o.ClientSecret = "s" }},
		{"a scope without an id", "which need --oidc-client-id", func(o *oidc.Options) { o.Scopes = []string{"groups"} }},
		{"no role", "needs --oidc-role", func(o *oidc.Options) { o.Roles = nil }},
		{"a role that does not exist", "expected listener, approver", func(o *oidc.Options) { o.Roles = []string{"x=admin"} }},
		{"an agent's", "expected listener, approver", func(o *oidc.Options) { o.Roles = []string{"x=agent"} }},
		{"half a role", "--oidc-role is", func(o *oidc.Options) { o.Roles = []string{"x="} }},
		{"half an owner", "--oidc-owner is", func(o *oidc.Options) { o.Owners = []string{"=anna"} }},
	} {
		o := good
		row.change(&o)
		_, err := oidc.New(o)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", row.name, err, row.says)
		}
	}
}
