package audit

import (
	"fmt"

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
		v.find(e.N, Altered, fmt.Sprintf("an act (%.32s) that is not the one that was recorded", e.Act.Act),
			"what was done was altered after it, or the entry was", askOthers)
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
	about := fmt.Sprintf("the call %.64s: ", a.Call)
	tell := func(flaw Flaw, found, means string) { v.find(e.N, flaw, about+found, means, askOthers) }
	if d.Turn == api.AuditTurnMissing {
		tell(Orphaned, "its turn is not in the ledger", "the turn was removed by something else than retention, which keeps the acts for as long")
		return
	}
	if d.Turn == api.AuditTurnImported {
		tell(Orphaned, "its turn counts as imported, and the call was started here", "the turn was marked as imported after the start")
		return
	}
	if a.Fence > 0 && !d.Granted || d.Fence < a.Fence {
		tell(Ungranted, "its start is not in the ledger", "it was removed after the call was started")
		return
	}
	switch a.Act {
	case api.ActStart:
		if d.Fence > a.Fence {
			return // the call has been started again, as another entry says
		}
		if d.Class != a.Detail {
			tell(Class, fmt.Sprintf("its class is %.32q, and it was started as %.32q", d.Class, a.Detail), "the class was altered after the start, or the call was removed")
		}
		switch {
		case d.Consent != a.Digest:
			tell(Bound, "the digest of its consent is not the one that it was started with", "the call was altered or removed after the start")
		case d.Turn == api.AuditTurnWhole && !d.Agreed && d.Allowed != a.Digest:
			tell(Bound, "what the ledger keeps of it is not what was started", "its arguments, its tool, its definition or its rule were altered or removed after the start")
		}
	case api.ActLate:
		if d.Turn == api.AuditTurnWhole && d.Result != a.Digest {
			tell(Outcome, "its late result "+differ(d.Result, a.Digest)+" was recorded", "the late result was altered or removed")
		}
	case api.ActOutcome:
		ended(d, a, tell)
	}
}

// ended compares what the ledger stores about an ended call with its outcome.
func ended(d api.AuditDone, a api.AuditAct, tell func(Flaw, string, string)) {
	if d.Fence != a.Fence {
		tell(Ungranted, "it counts as started after it had ended", "the call was altered after it had ended")
	}
	switch {
	case d.Status != a.Detail:
		tell(Outcome, fmt.Sprintf("its outcome is %.32q, and %.32q was recorded", d.Status, a.Detail), "the outcome was altered or removed")
	case d.Turn == api.AuditTurnWhole && d.DocumentStatus != a.Detail:
		tell(Outcome, fmt.Sprintf("people heard the outcome %.32q, but %.32q was recorded", d.DocumentStatus, a.Detail), "the call was altered after it had ended")
	case d.Turn == api.AuditTurnWhole && d.Result != a.Digest:
		tell(Outcome, "its result "+differ(d.Result, a.Digest)+" was recorded", "the result was altered or removed")
	}
}
