package admin

import (
	"context"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// actKinds are the kinds of acts on what is in force outside the ledger.
var actKinds = []string{api.ActPolicy, api.ActToken, api.ActLogin, api.ActCredential, api.ActProject}

// inForceKey identifies what is in force or reviewed, by kind and name.
type inForceKey struct{ kind, subject string }

// recordedActs are the newest acts on what is in force or reviewed. Partial says that some acts are forgotten: then
// what has no act may have had one.
type recordedActs struct {
	newest  map[inForceKey]api.AuditAct
	partial bool
}

// auditStanding compares what is in force, and the reviews of tools, with the newest act on each in the chain.
func auditStanding(tx store.Tx) (api.AuditAnswer, error) {
	var a api.AuditAnswer
	r, err := recordedIn(tx)
	if err != nil {
		return a, err
	}
	tools, err := tx.Tools(store.ToolFilter{})
	if err != nil {
		return a, err
	}
	a.Standing = r.tools(tools)
	for _, kind := range actKinds {
		recorded, err := tx.InForce(kind)
		if err != nil {
			return a, err
		}
		a.Standing = append(a.Standing, r.inForce(kind, recorded)...)
	}
	passkeys, err := tx.Passkeys()
	if err != nil {
		return a, err
	}
	a.Standing = append(a.Standing, r.inForce(api.ActPasskey, passkeysInForce(passkeys))...)
	agents, err := tx.Agents(store.AgentFilter{})
	if err != nil {
		return a, err
	}
	a.Standing = append(a.Standing, r.inForce(api.ActAgent, agentsInForce(agents))...)
	if len(a.Standing) > auditPage {
		a.Standing, a.More = a.Standing[:auditPage], true
	}
	return a, nil
}

// recordedIn reads the newest acts of operators.
func recordedIn(tx store.Tx) (recordedActs, error) {
	r := recordedActs{newest: map[inForceKey]api.AuditAct{}}
	for after := int64(0); ; {
		acts, err := tx.Audit(store.AuditFilter{After: after, Limit: auditPage, Operators: true})
		if err != nil {
			return r, err
		}
		for _, e := range acts {
			after = e.N
			if e.Act == nil {
				r.partial = true
				continue
			}
			kind := e.Act.Act
			if kind == api.ActRemove {
				kind = api.ActReview
			}
			r.newest[inForceKey{kind, e.Act.Subject}] = *e.Act
		}
		if len(acts) < auditPage {
			return r, nil
		}
	}
}

// silent reports whether what has no act may have had one, or none was ever made.
func (r recordedActs) silent() bool { return r.partial || len(r.newest) == 0 }

// passkeysInForce returns the passkeys as acts name them.
func passkeysInForce(all []store.Passkey) []store.InForce {
	rows := make([]store.InForce, 0, len(all))
	for _, p := range all {
		rows = append(rows, store.InForce{Kind: api.ActPasskey, Subject: p.ID, Digest: p.Key().Digest(), Detail: p.Describe(), By: p.Person})
	}
	return rows
}

// tools compares the reviews. An unreviewed tool already counts as the worst, and so is compared with nothing.
func (r recordedActs) tools(registered []store.Tool) []api.AuditStanding {
	var all []api.AuditStanding
	there := map[string]bool{}
	for _, t := range registered {
		name := t.Definition.Tool
		there[name] = true
		act, known := r.newest[inForceKey{api.ActReview, name}]
		if !t.Reviewed || !known && r.silent() {
			continue
		}
		said, found, same := reviewOf(t), reviewOf(t), reviewed(t, act)
		if known && !same {
			found += ", of another definition"
		}
		if act.Act == api.ActRemove || act.Detail != said || !same {
			all = append(all, api.AuditStanding{Kind: api.ActReview, Subject: name, Found: found, Recorded: act.Detail})
		}
	}
	for at, act := range r.newest {
		if act.Act == api.ActReview && !there[at.subject] {
			all = append(all, api.AuditStanding{Kind: api.ActReview, Subject: at.subject, Recorded: act.Detail})
		}
	}
	return all
}

// reviewOf describes what a review has decided.
func reviewOf(t store.Tool) string { return string(t.Class) + ", " + string(t.Risk) + " risk" }

// reviewAct returns the act of a review.
func reviewAct(t store.Tool) api.AuditAct {
	return api.AuditAct{
		Act: api.ActReview, Subject: t.Definition.Tool, Detail: reviewOf(t), Digest: t.Digest, Description: store.SHA256Hex([]byte(t.Definition.Description)),
	}
}

// reviewed reports whether a tool is still the one that an act is the review of. Acts of older versions do not have
// its description.
func reviewed(t store.Tool, act api.AuditAct) bool {
	sum, err := t.Definition.Digest()
	described := act.Description == "" || act.Description == store.SHA256Hex([]byte(t.Definition.Description))
	return err == nil && sum == t.Digest && t.Digest == act.Digest && described
}

// inForce compares what is in force of one kind.
func (r recordedActs) inForce(kind string, rows []store.InForce) []api.AuditStanding {
	var all []api.AuditStanding
	there := map[string]bool{}
	for _, f := range rows {
		there[f.Subject] = true
		act, known := r.newest[inForceKey{kind, f.Subject}]
		if known && (act.Digest != f.Digest || act.Detail == api.ActEnded) || !known && !r.partial {
			all = append(all, api.AuditStanding{Kind: kind, Subject: f.Subject, Found: f.Detail, Recorded: act.Detail})
		}
	}
	for at, act := range r.newest {
		if at.kind == kind && act.Detail != api.ActEnded && !there[at.subject] {
			all = append(all, api.AuditStanding{Kind: kind, Subject: at.subject, Recorded: act.Detail})
		}
	}
	return all
}

// NoteOlder records in the chain, before its first act, how much of the ledger is older than the chain, and which
// tools were reviewed. After that nothing counts as older, so that nothing can be added to the ledger unseen.
func (ad *Admin) NoteOlder(ctx context.Context) error {
	return store.ProtocolError(store.Update(ctx, ad.o.Ledger, func(tx store.Tx) error {
		acts, err := tx.Audit(store.AuditFilter{Limit: 1, Operators: true})
		if err != nil || len(acts) > 0 {
			return err
		}
		unchained, err := tx.Unchained()
		if err != nil {
			return err
		}
		tools, err := tx.Tools(store.ToolFilter{})
		if err != nil {
			return err
		}
		var older []api.AuditAct
		for subject, n := range map[string]int64{api.OlderReceipts: unchained.Older, api.OlderStarts: unchained.Starts} {
			if n > 0 {
				older = append(older, api.AuditAct{Act: api.ActOlder, Subject: subject, Detail: strconv.FormatInt(n, 10)})
			}
		}
		for _, t := range tools {
			if t.Reviewed { // who reviewed it is no longer known
				older = append(older, reviewAct(t))
			}
		}
		return ad.chainActs(tx, older)
	}))
}

func (ad *Admin) chainActs(tx store.Tx, acts []api.AuditAct) error {
	if len(acts) == 0 {
		return nil
	}
	var b store.Batch
	for _, a := range acts {
		a, err := ad.Act(a)
		if err != nil {
			return err
		}
		b.Acts = append(b.Acts, a)
	}
	return tx.Save(b)
}
