package audit

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/passkey"
)

// The flaws of accepts that a passkey has signed.
const (
	Signature Flaw = "signature" // the signature is not valid, or is under something else
	Signer    Flaw = "signer"    // it is valid, and the passkey was not one of the person's then
)

// again is the decision in the receipt of a wish to be asked again for what may have been done.
const again = "ask again"

// passkey follows which passkeys count.
func (v *Verifier) passkey(a api.AuditAct) {
	if v.passkeys == nil {
		v.passkeys = map[string]string{}
	}
	delete(v.passkeys, a.Subject)
	if a.Detail != api.ActEnded {
		v.passkeys[a.Subject] = a.Digest
	}
}

// signed verifies the signature under an accept again: it says yes to this very question, by a passkey that the person had
// then. This does not rely on the ledger: somebody who makes the chain again cannot sign.
func (v *Verifier) signed(e api.AuditEntry) {
	r, s := *e.Receipt, e.Receipt.Terms.Signed
	if s == (api.SignedAccept{}) {
		return
	}
	key := passkey.Key{ID: s.Passkey, Person: r.By, Site: s.Site, Public: s.Key}
	yes := passkey.Accept{
		Consent: r.Terms.Consent, Session: r.Session, Call: r.Call, Question: r.Question, Token: s.Token, Generation: s.Generation,
	}
	_, err := passkey.Verify(s.Assertion, passkey.Expected{Challenge: yes.Challenge(), Key: key})
	if unasked := r.Decision != accept && r.Decision != again; unasked || err != nil {
		why := part("it is under an answer that takes none")
		if !unasked {
			why = passkey.Why(err)
		}
		v.find(e.N, Signature, about(r, part("the passkey's signature under the accept does not count: %s", why)),
			part("the accept was not signed by the person, or was altered after it"), askOthers())
		return
	}
	if e.Evidence != nil && e.Evidence.Turn == api.AuditTurnImported {
		return // whose key it was stands in the chain of the ledger that it came from
	}
	digest, known := v.passkeys[s.Passkey]
	if known && digest != key.Digest() || !known && !v.lostActs {
		v.find(e.N, Signer, about(r, part("the chain has no such passkey of %s at the time of the accept", cut(r.By, longest))),
			part("the accept was signed by a key that the person never added, or that was removed before"), askOthers())
		return
	}
	v.report.Signed++
}
