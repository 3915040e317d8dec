package operate

import (
	"context"

	"github.com/earshot-dev/earshot/api"
)

// Erase erases the content of turns that have ended, or of all of a project. Sofar hears how many it was so far.
func Erase(ctx context.Context, ask Ask, turns []string, project string, sofar func(turns int)) (api.EraseAnswer, error) {
	const at = 64 // the most that one request names
	var all api.EraseAnswer
	for first := true; first || all.More || len(turns) > 0; first = false {
		n := min(len(turns), at)
		var a api.EraseAnswer
		if err := ask(ctx, api.OpErase, api.EraseRequest{Turns: turns[:n], Project: project}, &a); err != nil {
			return all, err
		}
		turns = turns[n:]
		all.Erased, all.Blobs, all.Open, all.More = all.Erased+a.Erased, all.Blobs+a.Blobs, append(all.Open, a.Open...), a.More
		if a.More {
			sofar(all.Erased)
		}
	}
	return all, nil
}
