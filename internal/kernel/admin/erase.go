package admin

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Dead lists dead letters.
func (ad *Admin) Dead(ctx context.Context, q api.DeadRequest) (api.DeadAnswer, error) {
	var a api.DeadAnswer
	f := store.OutboxFilter{Dead: true, After: q.After, Limit: deadPage}
	if q.ID > 0 {
		f = store.OutboxFilter{Dead: true, After: q.ID - 1, Limit: 1}
	}
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		a = api.DeadAnswer{}
		rows, err := tx.Outbox(f)
		if err != nil {
			return err
		}
		if q.ID > 0 && (len(rows) == 0 || rows[0].ID != q.ID) {
			return store.ErrNotFound
		}
		r := newPageBudget()
		for _, row := range rows {
			d, err := deadDetail(tx, row, q.ID > 0)
			if err != nil {
				return err
			}
			if fits, err := r.fits(d); err != nil || !fits {
				a.More = true
				return err
			}
			a.Dead = append(a.Dead, d)
		}
		a.More = q.ID == 0 && len(rows) == deadPage
		return nil
	})
	return a, err
}

func deadDetail(tx store.Tx, row store.Outgoing, whole bool) (api.DeadDetail, error) {
	d := api.DeadDetail{ID: row.ID, Session: row.Session, Call: row.Call, Subject: row.Subject, Died: row.Died, Reason: row.Reason}
	if whole {
		d.Header, d.Payload = row.Header, row.Payload[:min(len(row.Payload), api.InlineLimit/2)]
	}
	if row.Call == "" {
		return d, nil
	}
	c, err := store.ReadCall(tx, row.Call)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return d, err
	}
	d.Tool, d.Class = c.Tool, c.Class
	return d, nil
}

// erasedAtOnce is the most turns that one request may name, and one answer.
const erasedAtOnce = 64

// Erase removes the content of turns that have ended.
func (ad *Admin) Erase(ctx context.Context, q api.EraseRequest) (api.EraseAnswer, error) {
	var a api.EraseAnswer
	if (len(q.Turns) == 0) == (q.Project == "") || len(q.Turns) > erasedAtOnce {
		return a, api.NewFault(utp.CodeBadRequest, "either turns are named, at most 64, or a project")
	}
	p := store.Purge{Project: q.Project, Limit: purgeTurns}
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		a.Open, p.Turns = nil, nil
		for _, name := range q.Turns {
			rec, err := tx.Turn(turnNamed(name))
			if err != nil {
				return err
			}
			if rec.State.Status != turn.Ended {
				a.Open = append(a.Open, name)
				continue
			}
			p.Turns = append(p.Turns, rec.State.Turn)
		}
		return nil
	})
	if err != nil || q.Project == "" && len(p.Turns) == 0 {
		return a, err
	}
	if q.Project == "" {
		err = ad.eraseNamed(ctx, p.Turns, q, &a)
		return a, err
	}
	done, err := ad.purgeStep(ctx, p, &q)
	if err != nil {
		return a, err
	}
	a.Erased, a.Blobs, a.More = len(done.Erased), done.Blobs, len(done.Erased) == p.Limit
	if a.More {
		return a, nil
	}
	if a.Open, err = ad.openOf(ctx, q.Project); err != nil {
		return a, err
	}
	err = ad.eraseNamed(ctx, done.Waiting, q, &a)
	return a, err
}

// openOf returns the open turns of a project, oldest first, as many as one answer may name.
func (ad *Admin) openOf(ctx context.Context, project string) ([]string, error) {
	var open []string
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		open = nil
		f := store.TurnFilter{Open: true, Limit: listPage}
		for {
			rows, err := tx.Turns(f)
			if err != nil {
				return err
			}
			for _, row := range rows {
				rec, err := tx.Turn(store.TurnRef{Turn: row.Turn})
				if err != nil && !errors.Is(err, store.ErrDamaged) {
					return err
				}
				if rec.State.Project != project {
					continue
				}
				if open = append(open, row.Turn); len(open) == erasedAtOnce {
					return nil
				}
			}
			if len(rows) < f.Limit {
				return nil
			}
			f.After = rows[len(rows)-1].Turn
		}
	})
	return open, err
}

// eraseNamed erases turns that have ended, and waits briefly for those with unsent messages. Turns that still have
// some are reported like open ones.
func (ad *Admin) eraseNamed(ctx context.Context, turns []string, q api.EraseRequest, a *api.EraseAnswer) error {
	const tries = 40
	for try := 0; try < tries && len(turns) > 0; try++ {
		if err := breathe(ctx, time.Duration(min(try, 1))*purgePause); err != nil {
			return err
		}
		done, err := ad.purgeStep(ctx, store.Purge{Turns: turns, Limit: len(turns)}, &q)
		if err != nil {
			return err
		}
		a.Erased, a.Blobs = a.Erased+len(done.Erased), a.Blobs+done.Blobs
		if turns, err = ad.unerased(ctx, turns); err != nil {
			return err
		}
	}
	a.Open = append(a.Open, turns...)
	return ad.scrub(ctx)
}

// unerased returns those of the turns that still have their content.
func (ad *Admin) unerased(ctx context.Context, turns []string) ([]string, error) {
	var left []string
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		left = nil
		for _, id := range turns {
			rec, err := tx.Turn(store.TurnRef{Turn: id})
			if err == nil && !rec.Erased {
				left = append(left, id)
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	return left, err
}
