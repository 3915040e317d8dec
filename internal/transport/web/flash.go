package web

import (
	"sync"

	"github.com/earshot-dev/earshot/internal/surface/page"
)

// mostFlashes limits the stored notices, for people who never come back.
const mostFlashes = 1024

// flashes keep the notice of a form that was sent without scripts until the page that
// follows has shown it. The address carries nothing: a notice in it could be forged.
type flashes struct {
	mu      sync.Mutex
	notices map[string]page.Notice
	order   []string
}

func (f *flashes) add(form string, n page.Notice) {
	if form == "" { // a token's, not a page's: nobody comes back for it
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.notices == nil {
		f.notices = map[string]page.Notice{}
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

func (f *flashes) remove(form string) (page.Notice, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.notices[form]
	if !ok {
		return page.Notice{}, false
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
