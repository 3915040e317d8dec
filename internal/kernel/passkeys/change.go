package passkeys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/passkey/enrol"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// counterPasskeys counts the changes of passkeys, so that no signature makes one twice.
	counterPasskeys = "passkeys"
	// maxPasskeys is how many passkeys a person may have, and maxPasskeyName the longest name of one, in bytes.
	maxPasskeys, maxPasskeyName = 20, 64
)

// change is what a signature under a change of a person's passkeys is bound to now.
func (p *Passkeys) change(tx store.Tx, person, origin string) (passkey.Change, error) {
	n, err := tx.Count(counterPasskeys, 0)
	return passkey.Change{Person: person, Site: passkey.Site(origin), Count: n, Generation: p.o.Generation()}, err
}

// changeChallenge returns what has to be signed to make, add or remove a passkey.
func (p *Passkeys) changeChallenge(tx store.Tx, q api.PasskeyChallengeRequest, origin string) (string, error) {
	c, err := p.change(tx, q.By, origin)
	if err != nil {
		return "", err
	}
	switch q.Purpose {
	case api.PasskeyRegister:
		return c.Registering(), nil
	case api.PasskeyAdd:
		key, _, err := enrol.Key(q.Registration, q.By, origin, c.Registering())
		if err != nil {
			return "", api.NewFault(utp.CodeBadRequest, passkey.Reason(err))
		}
		return c.Adding(key), nil
	case api.PasskeyRemove:
		return c.Removing(q.Passkey), nil
	}
	return "", api.NewFault(utp.CodeBadRequest, "a passkey signs for the purpose accept, register, add or remove")
}

// Add adds a passkey of a person. The first one takes a one-time code, which the hub was shown; another one takes a
// signature by one that the person has.
func (p *Passkeys) Add(ctx context.Context, q api.ChangePasskeyRequest) (api.Passkey, error) {
	origin := p.o.Origin()
	var added store.Passkey
	err := p.changed(ctx, func(tx store.Tx, b *store.Batch) error {
		c, err := p.change(tx, q.By, origin)
		if err != nil {
			return err
		}
		key, counter, err := enrol.Key(q.Registration, q.By, origin, c.Registering())
		if err != nil {
			return api.NewFault(utp.CodeBadRequest, passkey.Reason(err))
		}
		mine, err := passkeysOf(tx, q.By, c.Site)
		if err != nil {
			return err
		}
		if err := checkPasskeyName(mine, q.Name); err != nil {
			return err
		}
		if len(mine) > 0 || !q.CodeShown {
			if err := p.authorise(b, mine, q.Assertion, c.Adding(key), origin); err != nil {
				return err
			}
		}
		added = store.Passkey{
			ID: key.ID, Public: key.Public, Person: key.Person, Name: q.Name, Site: key.Site, Counter: counter, Added: p.o.Now(),
		}
		b.Passkeys = append(b.Passkeys, added)
		return p.passkeyAct(b, added, added.Describe(), q.By)
	})
	return added.Detail(), err
}

// Remove removes a passkey of a person, with a signature by one of the person's.
func (p *Passkeys) Remove(ctx context.Context, q api.ChangePasskeyRequest) (api.Passkey, error) {
	origin := p.o.Origin()
	var removed store.Passkey
	err := p.changed(ctx, func(tx store.Tx, b *store.Batch) error {
		c, err := p.change(tx, q.By, origin)
		if err != nil {
			return err
		}
		mine, err := passkeysOf(tx, q.By, c.Site)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(mine, func(p store.Passkey) bool { return p.ID == q.Passkey })
		if i < 0 {
			return api.NewFault(utp.CodeNotFound, q.By+" has no such passkey on this page")
		}
		if err := p.authorise(b, mine, q.Assertion, c.Removing(q.Passkey), origin); err != nil {
			return err
		}
		if removed = mine[i]; b.PasskeysUsed[0].ID == removed.ID {
			b.PasskeysUsed = nil // it goes
		}
		return p.dropPasskey(b, removed, q.By)
	})
	return removed.Detail(), err
}

// Revoke removes a passkey for an operator. It takes no signature: less can be accepted then, not more, and the next
// one is again a first one.
func (p *Passkeys) Revoke(ctx context.Context, q api.RevokePasskeyRequest) (api.Passkey, error) {
	var removed store.Passkey
	err := p.changed(ctx, func(tx store.Tx, b *store.Batch) error {
		all, err := tx.Passkeys()
		if err != nil {
			return err
		}
		named := slices.DeleteFunc(all, func(p store.Passkey) bool { return q.Passkey == "" || p.ID != q.Passkey && p.Name != q.Passkey })
		switch len(named) {
		case 0:
			return api.NewFault(utp.CodeNotFound, fmt.Sprintf("there is no passkey %.80q", q.Passkey))
		case 1:
		default:
			return api.NewFault(utp.CodeConflict, fmt.Sprintf("%d passkeys have the name %.80q: name one by its id", len(named), q.Passkey))
		}
		removed = named[0]
		return p.dropPasskey(b, removed, q.By)
	})
	return removed.Detail(), err
}

// changed makes one change and counts it.
func (p *Passkeys) changed(ctx context.Context, fn func(store.Tx, *store.Batch) error) error {
	return store.ProtocolError(p.o.Change(ctx, func(tx store.Tx) error {
		var b store.Batch
		if err := fn(tx, &b); err != nil {
			return err
		}
		if _, err := tx.Count(counterPasskeys, 1); err != nil {
			return err
		}
		return tx.Save(b)
	}))
}

// authorise verifies that one of the person's passkeys has signed a change.
func (p *Passkeys) authorise(b *store.Batch, mine []store.Passkey, a api.Assertion, challenge, origin string) error {
	if len(mine) == 0 {
		return api.NewFault(utp.CodePasskeyRequired, "the first passkey takes a one-time code: the command earshot code makes one")
	}
	if a == (api.Assertion{}) {
		return api.NewFault(utp.CodePasskeyRequired, "this takes a signature by a passkey that is there already")
	}
	_, used, err := verified(mine, a, challenge, origin)
	if err != nil {
		return api.NewFault(utp.CodePasskeyRequired, "the passkey's signature does not count: "+passkey.Reason(err)+". Nothing was changed")
	}
	used.At = p.o.Now()
	b.PasskeysUsed = append(b.PasskeysUsed, used)
	return nil
}

func (p *Passkeys) dropPasskey(b *store.Batch, key store.Passkey, by string) error {
	b.PasskeysRemoved = append(b.PasskeysRemoved, key.ID)
	return p.passkeyAct(b, key, api.ActEnded, by)
}

// passkeyAct records a change in the audit chain. The digest is that of the key, for those who verify signatures later.
func (p *Passkeys) passkeyAct(b *store.Batch, key store.Passkey, detail, by string) error {
	acts, err := p.o.Act(api.AuditAct{Act: api.ActPasskey, Subject: key.ID, Detail: detail, Digest: key.Key().Digest(), By: by})
	b.Acts = append(b.Acts, acts...)
	return err
}

// checkPasskeyName refuses a name that says nothing, or that another passkey of the person has.
func checkPasskeyName(mine []store.Passkey, name string) error {
	switch {
	case strings.TrimSpace(name) == "" || len(name) > maxPasskeyName || !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return api.NewFault(utp.CodeBadRequest, fmt.Sprintf("a passkey has a name of 1 to %d bytes, such as: my phone", maxPasskeyName))
	case len(mine) >= maxPasskeys:
		return api.NewFault(utp.CodeConflict, fmt.Sprintf(
			"there are %d passkeys already, which is the most that a person may have: remove one first", maxPasskeys))
	case slices.ContainsFunc(mine, func(p store.Passkey) bool { return p.Name == name }):
		return api.NewFault(utp.CodeConflict, fmt.Sprintf("there is a passkey of the name %.80q already: choose another name", name))
	}
	return nil
}
