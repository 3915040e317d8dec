package passkey_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/passkey/enrol"
	"github.com/earshot-dev/earshot/internal/testkit/authenticator"
)

const origin, site = "https://earshot.example.org", "earshot.example.org"

// device makes a registered passkey of anna's.
func device(t *testing.T, algorithm int) (*authenticator.Device, passkey.Key) {
	t.Helper()
	d, err := authenticator.New(algorithm, origin, site)
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := enrol.Key(d.Register("register"), "anna", origin, "register")
	if err != nil {
		t.Fatal(err)
	}
	return d, key
}

// TestVerify: each part of an assertion has to be what it should, for each way to sign.
func TestVerify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		device func(d *authenticator.Device)
		signed func(a *api.Assertion)
		want   string // "" counts
	}{
		{name: "good"},
		{name: "backed up", device: func(d *authenticator.Device) { d.Flags |= authenticator.MayBeBackedUp | authenticator.BackedUp }},
		{name: "nobody there", device: func(d *authenticator.Device) { d.Flags &^= authenticator.Present }, want: "nobody is said to have been there"},
		{name: "not verified", device: func(d *authenticator.Device) { d.Flags &^= authenticator.Verified }, want: "without a PIN"},
		{name: "backed up against its nature", device: func(d *authenticator.Device) { d.Flags |= authenticator.BackedUp }, want: "backed up"},
		{name: "another site", device: func(d *authenticator.Device) { d.Site = "evil.example.org" }, want: "for another site"},
		{name: "another page", device: func(d *authenticator.Device) { d.Origin = "https://evil.example.org" }, want: "on the page"},
		{name: "another port", device: func(d *authenticator.Device) { d.Origin += ":8443" }, want: "on the page"},
		{name: "without TLS", device: func(d *authenticator.Device) { d.Origin = "http://" + site }, want: "on the page"},
		{name: "inside another page", device: func(d *authenticator.Device) { d.CrossOrigin = true }, want: "inside another one"},
		{name: "a registration", device: func(d *authenticator.Device) { d.Type = "webauthn.create" }, want: "not to sign"},
		{name: "another passkey", signed: func(a *api.Assertion) { a.Passkey = "b3RoZXI" }, want: "by another passkey"},
		{name: "a bit of the signature", signed: flipped(func(a *api.Assertion) *string { return &a.Signature }), want: "the signature is not"},
		{name: "a bit of the counter", signed: flipped(func(a *api.Assertion) *string { return &a.Authenticator }), want: "the signature is not"},
		{name: "a space in the browser's data", signed: func(a *api.Assertion) {
			raw, _ := base64.RawURLEncoding.DecodeString(a.Client)
			a.Client = base64.RawURLEncoding.EncodeToString(append(raw, ' '))
		}, want: "the signature is not"},
		{name: "too short", signed: func(a *api.Assertion) { a.Authenticator = a.Authenticator[:40] }, want: "expected at least 37"},
		{name: "nothing", signed: func(a *api.Assertion) { a.Signature = "" }, want: "the signature cannot be read"},
		{name: "padding", signed: func(a *api.Assertion) { a.Client += "=" }, want: "the browser's data cannot be read"},
		{name: "a line end", signed: func(a *api.Assertion) { a.Client += "\n" }, want: "the browser's data cannot be read"},
		{name: "not JSON", signed: func(a *api.Assertion) { a.Client = "e30x" }, want: "not JSON"},
		{name: "too long", signed: func(a *api.Assertion) { a.Signature = strings.Repeat("AAAA", 4<<10) }, want: "the signature cannot be read"},
	} {
		for _, algorithm := range []int{authenticator.ES256, authenticator.EdDSA, authenticator.RS256} {
			t.Run(fmt.Sprint(tt.name, " ", algorithm), func(t *testing.T) {
				t.Parallel()
				d, key := device(t, algorithm)
				if tt.device != nil {
					tt.device(d)
				}
				const challenge = "Y2hhbGxlbmdl"
				a, err := d.Sign(challenge)
				if err != nil {
					t.Fatal(err)
				}
				if tt.signed != nil {
					tt.signed(&a)
				}
				_, err = passkey.Verify(a, passkey.Expected{Challenge: challenge, Key: key, Origin: origin})
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			})
		}
	}
}

// flipped flips the last bit of the bytes of a member.
func flipped(of func(*api.Assertion) *string) func(*api.Assertion) {
	return func(a *api.Assertion) {
		member := of(a)
		raw, err := base64.RawURLEncoding.DecodeString(*member)
		if err != nil {
			panic(err)
		}
		raw[len(raw)-1] ^= 1
		*member = base64.RawURLEncoding.EncodeToString(raw)
	}
}

// TestJudged decides about the assertions of [TestVerify] as go-webauthn v0.18.2 did, which was part of the program then. It did
// not look at four things.
func TestJudged(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/judged.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const least = 60
	count := 0
	for line := range strings.Lines(string(raw)) {
		var row struct {
			Name, Passkey, Client, Authenticator, Signature, ID, Public string
			Good                                                        bool
		}
		if err := json.Unmarshal([]byte(line), &row, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		count++
		want := row.Good
		for _, ours := range []string{"backed up against its nature", "another passkey", "padding", "a line end"} {
			want = want && !strings.HasPrefix(row.Name, ours)
		}
		a := api.Assertion{Passkey: row.Passkey, Client: row.Client, Authenticator: row.Authenticator, Signature: row.Signature}
		key := passkey.Key{ID: row.ID, Person: "anna", Site: site, Public: row.Public}
		_, err := passkey.Verify(a, passkey.Expected{Challenge: "Y2hhbGxlbmdl", Key: key, Origin: origin})
		if (err == nil) != want {
			t.Errorf("%s: %v, and go-webauthn accepts it: %t", row.Name, err, row.Good)
		}
	}
	if count < least {
		t.Errorf("%d assertions, want at least %d", count, least)
	}
}

// TestAnyOrigin: who verifies later takes every origin of the site, and no other.
func TestAnyOrigin(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]bool{
		origin: true, origin + ":8443": true, "http://" + site: false, "https://a." + site: false, "https://" + site + ".evil.org": false,
		"https://" + site + "/": false, "": false,
	} {
		d, key := device(t, authenticator.EdDSA)
		d.Origin = from
		a, err := d.Sign("x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := passkey.Verify(a, passkey.Expected{Challenge: "x", Key: key}); (err == nil) != want {
			t.Errorf("%q: %v, want it to count: %v", from, err, want)
		}
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"https://earshot.example.org": "earshot.example.org", "https://earshot.example.org:7443": "earshot.example.org",
		"http://localhost:7411": "localhost", "http://0123456789abcdef.localhost:7411": "0123456789abcdef.localhost",
		"http://earshot.example.org": "", "http://127.0.0.1:7411": "", "https://127.0.0.1": "", "https://[::1]:7411": "", "http://notlocalhost": "",
		"ftp://localhost": "", "https://": "", "https://a@localhost": "", "https://localhost/x": "", "https://localhost?x": "", "null": "", "": "",
	} {
		if got := passkey.Site(from); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}

// TestCounter: a counter moves on, or is not there at all.
func TestCounter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		last, now uint32
		good      bool
	}{{0, 0, true}, {0, 1, true}, {1, 2, true}, {7, 9, true}, {1, 1, false}, {2, 1, false}, {1, 0, false}} {
		if err := passkey.CheckCounter(tt.last, tt.now); (err == nil) != tt.good {
			t.Errorf("%d after %d: %v", tt.now, tt.last, err)
		}
	}
}

// TestChallenge: each part of what is signed changes the challenge, and no two kinds share one.
func TestChallenge(t *testing.T) {
	t.Parallel()
	whole := passkey.Accept{Consent: "a", Session: "b", Call: "c", Question: 1, Token: "d", Generation: "e"}
	seen := map[string]string{whole.Challenge(): "whole"}
	differs := func(what, challenge string) {
		t.Helper()
		if before, taken := seen[challenge]; taken || challenge == "" {
			t.Errorf("%s has the challenge of %s", what, before)
		}
		seen[challenge] = what
	}
	for what, change := range map[string]func(*passkey.Accept){
		"consent":    func(a *passkey.Accept) { a.Consent = "x" },
		"session":    func(a *passkey.Accept) { a.Session = "x" },
		"call":       func(a *passkey.Accept) { a.Call = "x" },
		"question":   func(a *passkey.Accept) { a.Question = 2 },
		"token":      func(a *passkey.Accept) { a.Token = "x" },
		"generation": func(a *passkey.Accept) { a.Generation = "x" },
		"borders":    func(a *passkey.Accept) { a.Consent, a.Session = "ab", "" },
	} {
		other := whole
		change(&other)
		differs(what, other.Challenge())
	}
	c, k := passkey.Change{Person: "anna", Site: site, Count: 1, Generation: "e"}, passkey.Key{ID: "i", Person: "anna", Site: site, Public: "p"}
	differs("register", c.Registering())
	differs("add", c.Adding(k))
	differs("remove", c.Removing(k.ID))
	differs("remove, named as its digest", c.Removing(k.Digest()))
	c.Count++
	differs("add once more", c.Adding(k))
	k.Public = "q"
	differs("add another key", c.Adding(k))
}

func TestRequirement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		requirement            passkey.Requirement
		low, high, irrevocable bool
	}{
		{passkey.NotRequired, false, false, false},
		{passkey.High, false, true, true},
		{passkey.Irreversible, false, false, true},
		{passkey.All, true, true, true},
		{"unknown", true, true, true},
	} {
		got := [3]bool{tt.requirement.Covers(false, false), tt.requirement.Covers(false, true), tt.requirement.Covers(true, true)}
		if want := [3]bool{tt.low, tt.high, tt.irrevocable}; got != want {
			t.Errorf("%q covers %v, want %v", tt.requirement, got, want)
		}
		if tt.requirement.Valid() == (tt.requirement == "unknown") {
			t.Errorf("%q: valid is %v", tt.requirement, tt.requirement.Valid())
		}
	}
}
