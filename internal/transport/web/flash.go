package web

import "sync"

// mostFlashes limits the stored notices, for people who never come back.
const mostFlashes = 1024

// notice is the outcome of a person's own action.
type notice struct {
	Text    string `json:"text"`
	Refused bool   `json:"refused,omitzero"`
	Wrong   bool   `json:"wrong,omitzero"` // another answer is needed
	Open    bool   `json:"open,omitzero"`  // the question is still open: the focus stays where it is
	Undo    int    `json:"undo,omitzero"`  // the question whose accept can be taken back
}

// flashes store the notice of a form that was sent without scripts until the next page has shown it. The address does
// not carry it: a notice there could be forged.
type flashes struct {
	mu      sync.Mutex
	notices map[string]notice
	order   []string
}

func (f *flashes) add(form string, n notice) {
	if form == "" { // it came with a token, not from a page: nobody comes back for it
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.notices == nil {
		f.notices = map[string]notice{}
	}
	if _, there := f.notices[form]; !there {
		f.order = append(f.order, form)
	}
	f.notices[form] = n
	for len(f.order) > mostFlashes {
		delete(f.notices, f.order[0])
		f.order = f.order[1:]
	}
}

func (f *flashes) remove(form string) (notice, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.notices[form]
	if !ok {
		return notice{}, false
	}
	delete(f.notices, form)
	for i, one := range f.order {
		if one == form {
			f.order = append(f.order[:i], f.order[i+1:]...)
			break
		}
	}
	return n, true
}
