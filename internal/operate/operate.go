// Package operate is what operators ask for that takes more than one question: lists, page by page, and exports and imports of
// turns. It asks a server or the kernel of this process alike.
package operate

import (
	"context"

	"github.com/earshot-dev/earshot/api"
)

// Ask asks for an operation of operators, with the types that the table of operations in package api names for it.
type Ask func(ctx context.Context, op string, request, answer any) error

// EachTurn asks page by page until there are no more, or do has enough.
func EachTurn(ctx context.Context, ask Ask, q api.SessionsRequest, do func(api.SessionRow) (more bool, err error)) error {
	for {
		var page []api.SessionRow
		if err := ask(ctx, api.OpSessions, q, &page); err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		for _, t := range page {
			if on, err := do(t); err != nil || !on {
				return err
			}
		}
		q.After = page[len(page)-1].Turn
	}
}

// Frozen counts what a restored ledger holds back: messages that were put aside, and turns that have not ended.
func Frozen(ctx context.Context, ask Ask) (aside, open int, err error) {
	err = EachDead(ctx, ask, func(api.DeadDetail) error {
		aside++
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	err = EachTurn(ctx, ask, api.SessionsRequest{Open: true}, func(api.SessionRow) (bool, error) {
		open++
		return true, nil
	})
	return aside, open, err
}
