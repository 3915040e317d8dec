package standing_test

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/utp"
)

// A permission is made from an accepted call, and used by a later one.
func Example() {
	now := time.Date(2026, 11, 25, 21, 0, 0, 0, time.UTC)
	call := standing.Call{
		Owner: "ann", Project: "default", Agent: "tidy", Session: "sess_1", Tool: "files.trash", Definition: "d", Class: utp.Reversible,
		Args: jsontext.Value(`{"count":4,"folder":"/home/ann/Pictures/2019","mode":"fast"}`),
	}
	p, err := standing.Make(api.Standing{Uses: 2, Bounds: []api.Bound{
		{Argument: "/folder", Rule: api.BoundBegins, Value: jsontext.Value(`"/home/ann/Pictures/"`)},
		{Argument: "/count", Rule: api.BoundMost, Value: jsontext.Value(`20`)},
	}}, call, standing.Giver{By: "ann", Question: 7}, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Terms())

	call.Args = jsontext.Value(`{"count":12,"folder":"/home/ann/Pictures/2020","mode":"fast"}`)
	p, allowed := p.Use(call, now.Add(time.Minute))
	fmt.Println(allowed, p.Left())

	call.Args = jsontext.Value(`{"count":12,"folder":"/home/ann/Pictures/../.ssh","mode":"fast"}`)
	_, allowed = p.Use(call, now.Add(time.Minute))
	fmt.Println(allowed)
	// Output:
	// tidy may use files.trash in this session without asking, up to 2 times, if folder begins with "/home/ann/Pictures/", count is from 0 to 20, and all else is as in question 7
	// true 1
	// false
}
