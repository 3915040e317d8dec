package kernel

import (
	"context"
	"strconv"

	"github.com/earshot-dev/earshot/api"
)

// actKinds are the acts of what is in force beside the ledger.
var actKinds = []string{api.ActPolicy, api.ActToken, api.ActLogin, api.ActCredential}

// standing is what is in force or reviewed, by its kind and its name.
type standing struct{ kind, subject string }

// recorded are the newest acts on what is in force or reviewed. Partial says that some acts are forgotten:
// then what has none may have had one.
type recorded struct {
	newest  map[standing]api.AuditAct
	partial bool
}

// auditStanding compares what is in force, and the reviews of tools, with what the chain says of each last.
func auditStanding(tx Tx) (api.AuditAnswer, error) {
	var a api.AuditAnswer
	r, err := recordedIn(tx)
	if err != nil {
		return a, err
	}
	tools, err := tx.Tools(ToolFilter{})
	if err != nil {
		return a, err
	}
	a.Standing = r.tools(tools)
	for _, kind := range actKinds {
		kept, err := tx.Beside(BesideFilter{InForce: kind})
		if err != nil {
			return a, err
		}
		a.Standing = append(a.Standing, r.inForce(kind, kept.InForce)...)
	}
	if len(a.Standing) > auditPage {
		a.Standing, a.More = a.Standing[:auditPage], true
	}
	return a, nil
}

// recordedIn reads the newest acts of operators.
func recordedIn(tx Tx) (recorded, error) {
	r := recorded{newest: map[standing]api.AuditAct{}}
	for after := int64(0); ; {
		kept, err := tx.Beside(BesideFilter{Audit: AuditFilter{After: after, Limit: auditPage, Operators: true}})
		if err != nil {
			return r, err
		}
		for _, e := range kept.Audit {
			after = e.N
			if e.Act == nil {
				r.partial = true
				continue
			}
			kind := e.Act.Act
			if kind == api.ActRemove {
				kind = api.ActReview
			}
			r.newest[standing{kind, e.Act.Subject}] = *e.Act
		}
		if len(kept.Audit) < auditPage {
			return r, nil
		}
	}
}

// tools compares the reviews. A tool that is not reviewed counts as its service says at worst, and so is
// compared with nothing.
func (r recorded) tools(registered []Tool) []api.AuditStanding {
	var all []api.AuditStanding
	there := map[string]bool{}
	for _, t := range registered {
		name := t.Definition.Tool
		there[name] = true
		act, known := r.newest[standing{api.ActReview, name}]
		if !t.Reviewed || !known {
			continue
		}
		said := reviewOf(t)
		if act.Act == api.ActRemove || act.Detail != said || act.Digest != t.Digest {
			all = append(all, api.AuditStanding{Kind: api.ActReview, Subject: name, Found: said, Recorded: act.Detail})
		}
	}
	for at, act := range r.newest {
		if act.Act == api.ActReview && !there[at.subject] {
			all = append(all, api.AuditStanding{Kind: api.ActReview, Subject: at.subject, Recorded: act.Detail})
		}
	}
	return all
}

// reviewOf says what a review has decided.
func reviewOf(t Tool) string { return string(t.Class) + ", " + string(t.Risk) + " risk" }

// inForce compares what is in force of one kind.
func (r recorded) inForce(kind string, rows []InForce) []api.AuditStanding {
	var all []api.AuditStanding
	there := map[string]bool{}
	for _, f := range rows {
		there[f.Subject] = true
		act, known := r.newest[standing{kind, f.Subject}]
		if known && (act.Digest != f.Digest || act.Detail == Ended) || !known && !r.partial {
			all = append(all, api.AuditStanding{Kind: kind, Subject: f.Subject, Found: f.Detail, Recorded: act.Detail})
		}
	}
	for at, act := range r.newest {
		if at.kind == kind && act.Detail != Ended && !there[at.subject] {
			all = append(all, api.AuditStanding{Kind: kind, Subject: at.subject, Recorded: act.Detail})
		}
	}
	return all
}

// noteOlder notes once in the chain how much of the ledger is older than it, so that nothing can be added to
// that unseen.
func (k *Kernel) noteOlder(ctx context.Context) error {
	return protocolError(k.update(ctx, func(tx Tx) error {
		kept, err := tx.Beside(BesideFilter{InForce: api.ActOlder, Audit: AuditFilter{Unchained: true}})
		if err != nil || len(kept.InForce) > 0 {
			return err
		}
		var b Batch
		for subject, n := range map[string]int64{api.OlderReceipts: kept.Unchained.Older, api.OlderStarts: kept.Unchained.Starts} {
			if n == 0 {
				continue
			}
			a, err := k.act(api.AuditAct{Act: api.ActOlder, Subject: subject, Detail: strconv.FormatInt(n, 10)})
			if err != nil {
				return err
			}
			b.Acts, b.InForce = append(b.Acts, a), append(b.InForce, InForce{Kind: api.ActOlder, Subject: subject, Digest: a.Detail})
		}
		if len(b.Acts) == 0 {
			return nil
		}
		return tx.Save(b)
	}))
}
