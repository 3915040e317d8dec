package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// rating is what Lighthouse says of a page, as far as it is wanted.
type rating struct {
	RuntimeError *struct {
		Message string `json:"message"`
	} `json:"runtimeError"` //nolint:tagliatelle // its name
	Address    string `json:"finalDisplayedUrl"` //nolint:tagliatelle // its name
	Categories map[string]struct {
		Score     *float64 `json:"score"`
		AuditRefs []struct {
			ID     string  `json:"id"`
			Weight float64 `json:"weight"`
		} `json:"auditRefs"` //nolint:tagliatelle // its name
	} `json:"categories"`
	Audits map[string]struct {
		Title   string          `json:"title"`
		Score   *float64        `json:"score"`
		Details json.RawMessage `json:"details"`
	} `json:"audits"`
}

// judged counts what was found to be good in a category, and tells what was not, and where.
func (r *rating) judged(category string) (passed int, flaws []string) {
	for _, one := range r.Categories[category].AuditRefs {
		switch audit := r.Audits[one.ID]; {
		case one.Weight == 0 || audit.Score == nil: // not applicable, or only told
		case *audit.Score == 1:
			passed++
		default:
			flaws = append(flaws, fmt.Sprintf("%s: %s\n%s", one.ID, audit.Title, audit.Details))
		}
	}
	return passed, flaws
}

// judge is a browser that Lighthouse works in, on a port of its own.
type judge struct {
	*tab
	port string
}

// judge logs in with a browser of its own, because Lighthouse opens its tab in front, beside those that are logged in.
func (s *server) judge() judge {
	s.t.Helper()
	home, err := os.MkdirTemp("", "judge")
	must(s.t, err)
	s.t.Cleanup(func() { // the last: processes of the browser write in it until they have noticed that it has ended
		within(s.t, "the browser's folder is removed", func() (bool, error) { return os.RemoveAll(home) == nil, nil })
	})
	ctx, closeBrowser, err := newBrowser(s.home, narrowFonts, chromedp.UserDataDir(home), remote.WebSocket)
	must(s.t, err)
	s.t.Cleanup(closeBrowser)
	b := judge{tab: &tab{t: s.t, ctx: ctx, server: s}}
	b.visit("/")
	b.login()
	said, err := os.ReadFile(filepath.Join(home, "DevToolsActivePort"))
	must(s.t, err)
	b.port, _, _ = strings.Cut(string(said), "\n")
	return b
}

// rates has Lighthouse open a path of the page.
func (b judge) rates(path string, categories ...string) *rating {
	b.t.Helper()
	packages, err := testkit.Packages("lighthouse", "testdata/lighthouse/package-lock.json")
	if err != nil {
		lacks(b.t, err.Error())
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute) // a loaded machine is not a failure
	defer cancel()
	run := exec.CommandContext(ctx, "node", filepath.Join(packages, "lighthouse", "cli", "index.js"), b.server.page+path, "--port", b.port,
		"--only-categories", strings.Join(categories, ","), "--disable-storage-reset",
		"--output", "json", "--output-path", "stdout", "--quiet", "--no-enable-error-reporting")
	run.Env = append(os.Environ(), "HOME="+b.server.home)
	var complaints strings.Builder
	run.Stderr = &complaints
	out, err := run.Output()
	if err != nil {
		b.t.Fatalf("Lighthouse: %v:\n%s", err, &complaints)
	}
	var r rating
	must(b.t, json.Unmarshal(out, &r))
	if r.RuntimeError != nil {
		b.t.Fatalf("Lighthouse: %s", r.RuntimeError.Message)
	}
	return &r
}

// TestLighthouse: Lighthouse finds nothing to better in the accessibility and the practices of the home page with an open question, and of
// the page of its session.
func TestLighthouse(t *testing.T) {
	t.Parallel()
	pageChanged(t)
	s := serve(t, 1)
	b := s.judge()
	session := s.turn(1)
	b.until(`document.querySelector("[data-question]")`)
	for _, path := range []string{"/", "/sessions/" + session} {
		r := b.rates(path, "accessibility", "best-practices")
		if r.Address != s.page+path {
			t.Errorf("%s: what was rated is %s", path, r.Address)
		}
		for category, least := range map[string]int{"accessibility": 15, "best-practices": 8} {
			passed, flaws := r.judged(category)
			if score := r.Categories[category].Score; score == nil || *score < 1 {
				t.Errorf("%s, %s is not at its best:\n%s", path, category, strings.Join(flaws, "\n"))
			}
			if passed < least {
				t.Errorf("%s, %s: only %d audits applied", path, category, passed)
			}
		}
	}
}
