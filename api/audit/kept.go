package audit

import (
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// The flaws of what the ledger stores besides the chain.
const (
	Orphaned    Flaw = "orphaned"    // a receipt exists, and its turn does not
	Arguments   Flaw = "arguments"   // the arguments of the call are not those that the answer was about
	Bound       Flaw = "bound"       // the call is not the one that the answer was about: its tool, turn, definition or digest
	Shown       Flaw = "shown"       // the question's event is not the one that was shown
	Unasked     Flaw = "unasked"     // the question is missing
	Unagreed    Flaw = "unagreed"    // the consent that was given is missing or differs
	Unstarted   Flaw = "unstarted"   // the call was started, and its start is missing
	Unreceipted Flaw = "unreceipted" // a call was answered, agreed to or started without a receipt
)

// accept is the decision in the receipt of a consent.
const accept = "accept"

// kept compares what the ledger stores with the receipt, which the chain proves.
func (v *Verifier) kept(e api.AuditEntry) {
	if e.Evidence == nil {
		return
	}
	v.report.Compared++
	tell := func(flaw Flaw, found, means legible.Sentence) {
		v.find(e.N, flaw, about(*e.Receipt, found), means, askOthers())
	}
	k, r := *e.Evidence, *e.Receipt
	switch k.Turn {
	case api.AuditTurnMissing:
		tell(Orphaned, part("its turn is not in the ledger"), part("the turn was removed by something else than retention, which keeps the receipts for as long"))
	case api.AuditTurnImported:
		if k.Arguments != "" { // an import may not be complete yet
			keptArguments(k, r, tell)
		}
	case api.AuditTurnWhole:
		if keptArguments(k, r, tell) {
			keptCall(k, r, tell, changed(r.Terms.Consent, k.Consented))
		}
		if r.Terms.Event != "" && k.Shown != r.Shown {
			tell(Shown, differ(theShown, k.Shown, r.Shown), part("the event was altered or removed after the answer"))
		}
		if changed(r.Terms.Response, k.Response) {
			tell(Outcome, differ(theAnswer, k.Response, r.Terms.Response), part("the answer was altered or removed after it was given"))
		}
		keptRows(k, r, tell)
	case api.AuditTurnErased:
		keptCall(k, r, tell, false)
		keptRows(k, r, tell)
	}
}

// about says of which answer it is that something was found.
func about(r api.AuditReceipt, found legible.Sentence) legible.Sentence {
	return part("question %d, call %s: %s", r.Question, cut(r.Call, longest), found)
}

// changed reports whether a term is set and differs from what was found.
func changed(term, found string) bool { return term != "" && term != found }

// keptArguments compares the arguments, and reports whether they are those of the answer.
func keptArguments(k api.AuditEvidence, r api.AuditReceipt, tell telling) bool {
	if !changed(r.Terms.Arguments, k.Arguments) {
		return true
	}
	tell(Arguments, differ(theArguments, k.Arguments, r.Terms.Arguments), part("the arguments were altered or removed after the answer"))
	return false
}

// keptCall compares the call; other reports that its content leads to another consent.
func keptCall(k api.AuditEvidence, r api.AuditReceipt, tell telling, other bool) {
	if other || changed(r.Terms.Consent, k.Call) || changed(r.Terms.Definition, k.Definition) {
		tell(Bound, part("what the ledger keeps of the call is not what was answered"),
			part("the call was altered or removed after the answer: its tool, its definition, its turn or its digest"))
	}
}

// keptRows checks that the question exists, and what follows from a consent.
func keptRows(k api.AuditEvidence, r api.AuditReceipt, tell telling) {
	if !k.Question {
		tell(Unasked, part("the question is not in the ledger"), part("it was removed by something else than this program"))
	}
	if r.Decision != accept {
		return
	}
	if k.Consent != r.Terms.Consent {
		tell(Unagreed, part("the consent is not in the ledger, or has another digest"), part("it was altered or removed after the answer"))
	}
	if k.Unstarted {
		tell(Unstarted, part("the start of the call is not in the ledger"), part("it was removed after the call was started"))
	}
}

// telling reports a flaw of one answer or act.
type telling = func(flaw Flaw, found, means legible.Sentence)

// differing is what is said of something whose digest cannot be read any more, or is another one.
type differing struct{ unread, other string }

var (
	theShown = differing{
		"the words that put it cannot be read, and what has the digest %s was shown", "the words that put it now have the digest %s, and what has %s was shown",
	}
	theAnswer = differing{
		"the answer cannot be read, and what has the digest %s was given", "the answer now has the digest %s, and what has %s was given",
	}
	theArguments = differing{
		"the arguments cannot be read, and what has the digest %s was answered", "the arguments now have the digest %s, and what has %s was answered",
	}
	theResult = differing{
		"its result cannot be read, and what has the digest %s was recorded", "its result now has the digest %s, and what has %s was recorded",
	}
	theLateResult = differing{
		"its late result cannot be read, and what has the digest %s was recorded", "its late result now has the digest %s, and what has %s was recorded",
	}
)

// differ says which digest was found, and which was expected.
func differ(what differing, found, expected string) legible.Sentence {
	if found == "" {
		return part(what.unread, abbreviated(expected))
	}
	return part(what.other, abbreviated(found), abbreviated(expected))
}

// Calls reports the calls that the chain does not cover as it should. It calls page with the id of the last call so
// far, to get those that follow, in order.
func (v *Verifier) Calls(page func(after string) (api.AuditAnswer, error)) error {
	after := ""
	for {
		a, err := page(after)
		if err != nil {
			return err
		}
		for _, c := range a.Calls {
			after = c.Call
			if c.Unrecorded {
				v.find(0, Unrecorded, part("the call %s has an effect, and no entry of the chain says that it was started, or how it ended", cut(c.Call, longest)),
					part("the start was put in by something else than this program, or an entry was altered or removed"), askOthers())
			}
			if !c.Unreceipted {
				continue
			}
			v.find(0, Unreceipted, part("the call %s was answered, agreed to or started, and no receipt stands for that", cut(c.Call, longest)),
				part("its receipt was removed, or the answer, the consent or the start was put in by something else than this program"), askOthers())
		}
		if !a.More || len(a.Calls) == 0 {
			return nil
		}
	}
}
