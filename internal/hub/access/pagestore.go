package access

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// storedPage is a page session as stored in the file. It contains no secret.
type storedPage struct {
	ID       string    `json:"id"`
	SHA256   string    `json:"sha256"`
	Person   string    `json:"person"`
	Roles    []Role    `json:"roles"`
	Projects []string  `json:"projects,omitzero"`
	Owners   []string  `json:"owners,omitzero"`
	By       string    `json:"by,omitzero"`  // the credential that it is based on
	Run      string    `json:"run,omitzero"` // the run of the store that it ends with
	Terminal string    `json:"terminal,omitzero"`
	Browser  string    `json:"browser,omitzero"`
	User     string    `json:"user,omitzero"` // the local account that logged in
	Begun    time.Time `json:"begun,omitzero"`
	Used     time.Time `json:"used,omitzero"`
	Expires  time.Time `json:"expires"`
}

func (k storedPage) check() error {
	if len(k.SHA256) != len(hashed("")) || k.ID == "" || k.Expires.IsZero() {
		return errors.New("a login of " + k.Person + " has no id, no hash or no end")
	}
	if utf8.RuneCountInString(k.Browser) > maxBrowser || len(k.User) > maxUser {
		return errors.New("a login of " + k.Person + " has a browser or a user with a name that is too long")
	}
	if k.Terminal != "" && !isName(k.Terminal) {
		return errors.New("a login of " + k.Person + " has a terminal with an unusable name")
	}
	who := k.page().who
	if k.Run != "" {
		who.Name = strings.TrimPrefix(who.Name, providerPrefix)
	}
	return checkPrincipal(who)
}

func (k storedPage) page() page {
	surface := pageSurface
	if k.Terminal != "" {
		surface = terminalSurface + k.Terminal
	}
	who := Principal{
		Name: k.Person, Roles: slices.Clone(k.Roles), Projects: slices.Clone(k.Projects), Owners: slices.Clone(k.Owners),
		Surface: surface, Credential: sessionPrefix + k.ID,
	}
	return page{who: who, by: k.By, run: k.Run, terminal: k.Terminal, browser: Browser{Name: k.Browser, User: k.User}, begun: k.Begun, used: k.Used, filed: k.Used, expires: k.Expires}
}

// storedPages returns the page sessions to store, in a fixed order. Those by a grant are left out.
func storedPages(pages, others map[string]page) []storedPage {
	all := make([]storedPage, 0, len(pages)+len(others))
	both := maps.Clone(others)
	maps.Copy(both, pages)
	for _, hash := range slices.Sorted(maps.Keys(both)) {
		pg := both[hash]
		if pg.passing() {
			continue
		}
		all = append(all, storedPage{
			ID: strings.TrimPrefix(pg.who.Credential, sessionPrefix), SHA256: hash, Person: pg.who.Name, Roles: pg.who.Roles,
			Projects: pg.who.Projects, Owners: pg.who.Owners, By: pg.by, Run: pg.run, Terminal: pg.terminal, Browser: pg.browser.Name, User: pg.browser.User,
			Begun: pg.begun.UTC(), Used: pg.used.UTC(), Expires: pg.expires.UTC(),
		})
	}
	return all
}

// openPages merges the page sessions of the file with what is not stored: logins and logouts that are not written yet,
// and the sessions by a grant. Those of another run of a store count here for nothing; they are returned apart, to be listed and
// ended, unless that run has been replaced by this one. The caller holds mu.
func (s *Store) openPages(filed []storedPage) (open, others map[string]page) {
	open, others = map[string]page{}, map[string]page{}
	for hash, pg := range s.pages {
		if pg.passing() {
			open[hash] = pg
		}
	}
	for _, k := range filed {
		if !s.now().Before(k.Expires) {
			continue
		}
		pg := k.page()
		known, was := s.pages[k.SHA256]
		switch {
		case k.Run == "":
			if was && known.used.After(pg.used) {
				pg.used = known.used
			}
			open[k.SHA256] = pg
		case k.Run == s.run:
			if was {
				known.filed = pg.used
				open[k.SHA256] = known // with whom the provider vouched for, which is in no file
			}
		case s.run == "":
			others[k.SHA256] = pg
		default:
			s.touched = true // the file loses it
		}
	}
	for hash, pg := range s.unsaved {
		if delete(open, hash); pg != nil {
			open[hash] = *pg
		}
	}
	return open, others
}

// flush writes logins, logouts and, every [usedEvery], last-used times to the file. They take effect without it. If the
// write fails, the next refresh retries it; only a restart in between loses them. The caller holds mu.
func (s *Store) flush() {
	if !s.behind() {
		return
	}
	locked, err := lock(s.path)
	if err != nil {
		return
	}
	defer unlock(locked)
	if s.read(); s.broken == nil {
		_ = s.save(s.tokens) // retried
	}
}

// behind reports whether there are changes that are not written to the file yet. The caller holds mu.
func (s *Store) behind() bool { return len(s.unsaved) > 0 || s.touched }

func sameKeys(a, b map[string]page) bool {
	return maps.EqualFunc(a, b, func(page, page) bool { return true })
}
