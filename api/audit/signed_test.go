package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/passkey/enrol"
	"github.com/earshot-dev/earshot/internal/testkit/authenticator"
)

const page, pageSite = "https://earshot.example.org", "earshot.example.org"

// added adds a passkey of ada's to the chain.
func (c *chain) added(t *testing.T, d *authenticator.Device) passkey.Key {
	t.Helper()
	key, _, err := enrol.Key(d.Register("x"), "ada", page, "x")
	if err != nil {
		t.Fatal(err)
	}
	c.passkeyAct(api.AuditAct{Subject: key.ID, Detail: "my phone, for " + pageSite, Digest: key.Digest()})
	return key
}

func (c *chain) passkeyAct(a api.AuditAct) {
	a.Act, a.By, a.At, a.Salt = api.ActPasskey, "ada", time.UnixMicro(1), fmt.Sprintf("%032d", len(*c))
	c.add(api.AuditEntry{Kind: audit.Act, Commitment: audit.ActCommitment(a), Act: &a})
}

// signedAnswer adds an accept that a passkey has signed, after what was signed was spoilt.
func (c *chain) signedAnswer(t *testing.T, d *authenticator.Device, key passkey.Key, spoil func(*api.AuditReceipt)) {
	t.Helper()
	n := len(*c) + 1
	r := api.AuditReceipt{
		ReceiptDetail: api.ReceiptDetail{
			Call: "tc_1", Question: 7, Decision: "accept", By: "ada", Surface: "page", At: time.UnixMicro(int64(n)), Terms: api.ReceiptTerms{Consent: "c0"},
		},
		Session: "sess_1", Salt: fmt.Sprintf("%032d", n),
	}
	about := passkey.Accept{Consent: "c0", Session: "sess_1", Call: "tc_1", Question: 7, Token: "rpl_1", Generation: "g1"}
	signed, err := d.Sign(about.Challenge())
	if err != nil {
		t.Fatal(err)
	}
	r.Terms.Signed = api.SignedAccept{Assertion: signed, Key: key.Public, Site: key.Site, Token: about.Token, Generation: about.Generation}
	if spoil != nil {
		spoil(&r)
	}
	c.add(api.AuditEntry{Kind: audit.Answer, Commitment: audit.Commitment(r), Receipt: &r})
}

// TestSigned: the signature under an accept is verified again, also where somebody has made the whole chain again, with all
// digests right: nobody can sign in a person's place.
func TestSigned(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(*api.AuditReceipt)
		flaws string
	}{
		"as it was signed":   {nil, ""},
		"another answer":     {func(r *api.AuditReceipt) { r.Decision = "reject" }, "2 signature"},
		"another consent":    {func(r *api.AuditReceipt) { r.Terms.Consent = "c1" }, "2 signature"},
		"another call":       {func(r *api.AuditReceipt) { r.Call = "tc_2" }, "2 signature"},
		"another session":    {func(r *api.AuditReceipt) { r.Session = "sess_2" }, "2 signature"},
		"another question":   {func(r *api.AuditReceipt) { r.Question = 8 }, "2 signature"},
		"another asking":     {func(r *api.AuditReceipt) { r.Terms.Signed.Token = "rpl_2" }, "2 signature"},
		"another generation": {func(r *api.AuditReceipt) { r.Terms.Signed.Generation = "g2" }, "2 signature"},
		"another site":       {func(r *api.AuditReceipt) { r.Terms.Signed.Site = "example.org" }, "2 signature"},
		"another person":     {func(r *api.AuditReceipt) { r.By = "bob" }, "2 signer"},
		"a byte of the signature": {func(r *api.AuditReceipt) {
			last := len(r.Terms.Signed.Signature) - 3
			flipped := []byte(r.Terms.Signed.Signature)
			flipped[last] ^= 1
			r.Terms.Signed.Signature = string(flipped)
		}, "2 signature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := authenticator.New(authenticator.ES256, page, pageSite)
			if err != nil {
				t.Fatal(err)
			}
			var c chain
			c.signedAnswer(t, d, c.added(t, d), tt.spoil)
			flaws, report := verified(t, audit.Verifier{}, c, api.AuditUnchained{})
			if flaws != tt.flaws || report.Signed == 1 != (tt.flaws == "") {
				t.Errorf("%q %+v, want %q", flaws, report, tt.flaws)
			}
		})
	}
}

// TestSigner: a signature counts if the chain says that the passkey was one of the person's then.
func TestSigner(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before func(c *chain, key passkey.Key)
		flaws  string
	}{
		"never added": {func(c *chain, _ passkey.Key) { *c = nil }, "1 signer"},
		"removed before": {func(c *chain, key passkey.Key) {
			c.passkeyAct(api.AuditAct{Subject: key.ID, Detail: api.ActEnded, Digest: key.Digest()})
		}, "3 signer"},
		"removed and added again": {func(c *chain, key passkey.Key) {
			c.passkeyAct(api.AuditAct{Subject: key.ID, Detail: api.ActEnded, Digest: key.Digest()})
			c.passkeyAct(api.AuditAct{Subject: key.ID, Detail: "again", Digest: key.Digest()})
		}, ""},
		"another key of that name": {func(c *chain, key passkey.Key) {
			c.passkeyAct(api.AuditAct{Subject: key.ID, Detail: "another", Digest: "d1"})
		}, "3 signer"},
		"forgotten since": {func(c *chain, _ passkey.Key) {
			(*c)[0].Act = nil
			c.add(api.AuditEntry{Kind: audit.Forgotten, Of: 1})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := authenticator.New(authenticator.EdDSA, page, pageSite)
			if err != nil {
				t.Fatal(err)
			}
			var c chain
			key := c.added(t, d)
			tt.before(&c, key)
			c.signedAnswer(t, d, key, nil)
			if flaws, report := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != tt.flaws || report.Signed == 1 != (tt.flaws == "") {
				t.Errorf("%q %+v, want %q", flaws, report, tt.flaws)
			}
		})
	}
}

// TestSignedElsewhere: whose key an imported receipt was signed with stands in another chain; that it was signed is verified.
func TestSignedElsewhere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(*api.AuditReceipt)
		flaws string
	}{
		"as it was signed": {nil, ""},
		"another call":     {func(r *api.AuditReceipt) { r.Call = "tc_2" }, "1 signature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := authenticator.New(authenticator.RS256, page, pageSite)
			if err != nil {
				t.Fatal(err)
			}
			var c, elsewhere chain
			c.signedAnswer(t, d, elsewhere.added(t, d), tt.spoil)
			c[0].Evidence = &api.AuditEvidence{Turn: api.AuditTurnImported}
			if flaws, report := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != tt.flaws || report.Signed != 0 {
				t.Errorf("%q %+v, want %q", flaws, report, tt.flaws)
			}
		})
	}
}
