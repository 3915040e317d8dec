package audit

import (
	"fmt"

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
	tell := func(flaw Flaw, found, means string) { v.find(e.N, flaw, about(*e.Receipt)+found, means, askOthers) }
	k, r := *e.Evidence, *e.Receipt
	switch k.Turn {
	case api.AuditTurnMissing:
		tell(Orphaned, "its turn is not in the ledger", "the turn was removed by something else than retention, which keeps the receipts for as long")
	case api.AuditTurnImported:
		if k.Arguments != "" { // an import may not be complete yet
			keptArguments(k, r, tell)
		}
	case api.AuditTurnWhole:
		if keptArguments(k, r, tell) {
			keptCall(k, r, tell, changed(r.Terms.Consent, k.Consented))
		}
		if r.Terms.Event != "" && k.Shown != r.Shown {
			tell(Shown, "the words that put it "+differ(k.Shown, r.Shown)+" was shown", "the event was altered or removed after the answer")
		}
		if changed(r.Terms.Response, k.Response) {
			tell(Outcome, "the answer "+differ(k.Response, r.Terms.Response)+" was given", "the answer was altered or removed after it was given")
		}
		keptRows(k, r, tell)
	case api.AuditTurnErased:
		keptCall(k, r, tell, false)
		keptRows(k, r, tell)
	}
}

// about begins what is found of an answer.
func about(r api.AuditReceipt) string {
	return fmt.Sprintf("question %d, call %.64s: ", r.Question, r.Call)
}

// changed reports whether a term is set and differs from what was found.
func changed(term, found string) bool { return term != "" && term != found }

// keptArguments compares the arguments, and reports whether they are those of the answer.
func keptArguments(k api.AuditEvidence, r api.AuditReceipt, tell func(Flaw, string, string)) bool {
	if !changed(r.Terms.Arguments, k.Arguments) {
		return true
	}
	tell(Arguments, "the arguments "+differ(k.Arguments, r.Terms.Arguments)+" was answered", "the arguments were altered or removed after the answer")
	return false
}

// keptCall compares the call; other reports that its content leads to another consent.
func keptCall(k api.AuditEvidence, r api.AuditReceipt, tell func(Flaw, string, string), other bool) {
	if other || changed(r.Terms.Consent, k.Call) || changed(r.Terms.Definition, k.Definition) {
		tell(Bound, "what the ledger keeps of the call is not what was answered", "the call was altered or removed after the answer: its tool, its definition, its turn or its digest")
	}
}

// keptRows checks that the question exists, and what follows from a consent.
func keptRows(k api.AuditEvidence, r api.AuditReceipt, tell func(Flaw, string, string)) {
	if !k.Question {
		tell(Unasked, "the question is not in the ledger", "it was removed by something else than this program")
	}
	if r.Decision != accept {
		return
	}
	if k.Consent != r.Terms.Consent {
		tell(Unagreed, "the consent is not in the ledger, or has another digest", "it was altered or removed after the answer")
	}
	if k.Unstarted {
		tell(Unstarted, "the start of the call is not in the ledger", "it was removed after the call was started")
	}
}

// differ says which digest was found, and which was expected.
func differ(found, expected string) string {
	if found == "" {
		return fmt.Sprintf("cannot be read, and what has the digest %.16s…", expected)
	}
	return fmt.Sprintf("now have the digest %.16s…, and what has %.16s…", found, expected)
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
				v.find(0, Unrecorded, fmt.Sprintf("the call %.64s has an effect, and no entry of the chain says that it was started, or how it ended", c.Call),
					"the start was put in by something else than this program, or an entry was altered or removed", askOthers)
			}
			if !c.Unreceipted {
				continue
			}
			v.find(0, Unreceipted, fmt.Sprintf("the call %.64s was answered, agreed to or started, and no receipt stands for that", c.Call),
				"its receipt was removed, or the answer, the consent or the start was put in by something else than this program", askOthers)
		}
		if !a.More || len(a.Calls) == 0 {
			return nil
		}
	}
}
