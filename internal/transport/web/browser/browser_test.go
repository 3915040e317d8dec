// Package browser_test opens the page in a real Chromium, served by the real program: it
// reads what the live regions said, works by keyboard alone, answers from several places
// at once, and kills the server under an open page.
//
// Without Chromium or axe-core the tests that need them are left out by name.
// `make browser` installs both where it can.
package browser_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/earshot-dev/earshot/internal/testkit"
)

const (
	// patience bounds every wait. It is long because a loaded machine is not a failure.
	patience = 3 * time.Minute
	// glance is how often a condition is looked at.
	glance = 20 * time.Millisecond
	// parallel is how many tests are under way at once unless -parallel says otherwise:
	// they mostly wait for the time in which a yes can be taken back.
	parallel = "4"
)

var (
	program  string          // the built binary
	chromium string          // the browser's path; empty: it is not here
	window   context.Context // the browser of all tests, which TestMain owns
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", parallel); err != nil {
			return complain("the number of tests at once", err)
		}
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	if chromium == "" {
		return m.Run() // each test says that it is left out
	}
	dir, err := os.MkdirTemp("", "earshot-browser-")
	if err != nil {
		return complain("a folder for the program", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "earshot")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", program, "../../../../cmd/earshot")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return complain("building the program", err)
	}
	ctx, closeBrowser, err := newBrowser(filepath.Join(dir, "home"), narrowFonts)
	if err != nil {
		return complain("the fonts of the page", err)
	}
	defer closeBrowser()
	if err := chromedp.Do(ctx); err != nil {
		return complain("starting "+chromium, err)
	}
	window = ctx //nolint:fatcontext // chromedp keeps a browser in its context
	return m.Run()
}

func complain(what string, err error) int {
	fmt.Fprintln(os.Stderr, what+":", err)
	return 1
}

// needsChromium leaves a test out where there is no browser. With CI=true in the
// environment that is a failure.
func needsChromium(t *testing.T) {
	t.Helper()
	testkit.Slow(t)
	if chromium == "" {
		lacks(t, "no Chromium is installed, so the page was not opened in a browser; `scripts/need chromium` installs it")
	}
}

func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("left out: " + what)
	}
	t.Skip("left out: " + what)
}

// pageChanged leaves a test out of a landing that changes nothing of the page: .ci/run sets EARSHOT_TEST_PAGE_CHANGED=0 then. The test
// runs everywhere else, and always at full size.
func pageChanged(t *testing.T) {
	t.Helper()
	if os.Getenv("EARSHOT_TEST_PAGE_CHANGED") == "0" && !testkit.Full() {
		t.Skip("sampled: the page has not changed (EARSHOT_TEST_PAGE_CHANGED=0)")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within waits until a condition holds, or says what was waited for in vain.
func within(t *testing.T, what string, holds func() (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience) // also in a cleanup
	defer cancel()
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	var last error
	for {
		ok, err := holds()
		if ok {
			return
		}
		last = err
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatal(errors.Join(fmt.Errorf("waited in vain until %s", what), last))
		}
	}
}
