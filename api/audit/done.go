package audit

import (
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// The flaws of what the ledger stores about the calls of the chain's acts.
const (
	Ungranted  Flaw = "ungranted"  // the chain has a start, and the ledger does not
	Class      Flaw = "class"      // the class of a call differs from the one that it was started with
	Outcome    Flaw = "outcome"    // the ledger has another outcome than the one that was recorded
	Unrecorded Flaw = "unrecorded" // a call with an effect was started or has ended without an entry
	Standing   Flaw = "standing"   // something is in force or reviewed differently from what the chain says
)

// act verifies an entry that stands for an act.
func (v *Verifier) act(e api.AuditEntry) {
	v.report.Acts++
	if e.Act == nil {
		v.kinds.set(e.N, gone)
		v.lostActs = true
		return
	}
	v.kinds.set(e.N, there)
	if ActCommitment(*e.Act) != e.Commitment {
		v.find(e.N, Altered, part("an act (%s) that is not the one that was recorded", cut(e.Act.Act, shortest)),
			part("what was done was altered after it, or the entry was"), askOthers())
		return // it proves nothing
	}
	switch e.Act.Act {
	case api.ActOlder:
		v.older(e)
	case api.ActPasskey:
		v.passkey(*e.Act)
	}
	v.done(e)
}

// done compares what the ledger stores about a call with a start or an outcome that the chain proves.
func (v *Verifier) done(e api.AuditEntry) {
	if e.Done == nil {
		return
	}
	v.report.Compared++
	d, a := *e.Done, *e.Act
	tell := func(flaw Flaw, found, means legible.Sentence) {
		v.find(e.N, flaw, part("the call %s: %s", cut(a.Call, longest), found), means, askOthers())
	}
	if d.Turn == api.AuditTurnMissing {
		tell(Orphaned, part("its turn is not in the ledger"), part("the turn was removed by something else than retention, which keeps the acts for as long"))
		return
	}
	if d.Turn == api.AuditTurnImported {
		tell(Orphaned, part("its turn counts as imported, and the call was started here"), part("the turn was marked as imported after the start"))
		return
	}
	if a.Fence > 0 && !d.Granted || d.Fence < a.Fence {
		tell(Ungranted, part("its start is not in the ledger"), part("it was removed after the call was started"))
		return
	}
	switch a.Act {
	case api.ActStart:
		if d.Fence > a.Fence {
			return // the call has been started again, as another entry says
		}
		if d.Class != a.Detail {
			tell(Class, part("its class is %s, and it was started as %s", quoted(d.Class, shortest), quoted(a.Detail, shortest)),
				part("the class was altered after the start, or the call was removed"))
		}
		switch {
		case d.Consent != a.Digest:
			tell(Bound, part("the digest of its consent is not the one that it was started with"), part("the call was altered or removed after the start"))
		case d.Turn == api.AuditTurnWhole && !d.Agreed && d.Allowed != a.Digest:
			tell(Bound, part("what the ledger keeps of it is not what was started"), part("its arguments, its tool, its definition or its rule were altered or removed after the start"))
		}
	case api.ActLate:
		if d.Turn == api.AuditTurnWhole && d.Result != a.Digest {
			tell(Outcome, differ(theLateResult, d.Result, a.Digest), part("the late result was altered or removed"))
		}
	case api.ActOutcome:
		ended(d, a, tell)
	}
}

// ended compares what the ledger stores about an ended call with its outcome.
func ended(d api.AuditDone, a api.AuditAct, tell telling) {
	if d.Fence != a.Fence {
		tell(Ungranted, part("it counts as started after it had ended"), part("the call was altered after it had ended"))
	}
	switch {
	case d.Status != a.Detail:
		tell(Outcome, part("its outcome is %s, and %s was recorded", quoted(d.Status, shortest), quoted(a.Detail, shortest)), part("the outcome was altered or removed"))
	case d.Turn == api.AuditTurnWhole && d.DocumentStatus != a.Detail:
		tell(Outcome, part("people heard the outcome %s, but %s was recorded", quoted(d.DocumentStatus, shortest), quoted(a.Detail, shortest)),
			part("the call was altered after it had ended"))
	case d.Turn == api.AuditTurnWhole && d.Result != a.Digest:
		tell(Outcome, differ(theResult, d.Result, a.Digest), part("the result was altered or removed"))
	}
}
