package hub

import (
	"context"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// state finds the last state.changed of a session up to the position of the view.
func (h *Hub) state(ctx context.Context, v view) (*entry, bool, error) {
	if e, known := h.feed.state(v.session); known && e.seq <= v.last {
		return e, true, nil
	}
	for _, back := range tail {
		var found *entry
		for after := max(0, v.last-back); after < v.last; {
			rows, err := h.page(ctx, v.session, after, 0)
			if err != nil {
				return nil, false, err
			}
			if len(rows) == 0 {
				break
			}
			for _, e := range slices.Backward(rows) {
				if isState(e) && e.seq <= v.last {
					found = e
					break
				}
			}
			after = rows[len(rows)-1].seq
		}
		if found != nil {
			return found, true, nil
		}
		if v.last <= back {
			break
		}
	}
	return nil, false, nil
}

func isState(e *entry) bool {
	c := e.content()
	_, is := c.event.Payload.(aaep.StateChanged)
	return is && c.unreadable == nil
}
