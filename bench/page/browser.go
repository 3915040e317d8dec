package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// browserTime bounds each step in the browser.
const browserTime = time.Minute

// watching notes when the question was painted, and the longest task of the main thread. It is the measurement's, not the page's.
const watching = `(() => {
  window.measured = { question: 0, connected: 0, task: 0 };
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) measured.task = Math.max(measured.task, task.duration);
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    if (!measured.connected && document.getElementById("connection")?.textContent.startsWith("Connected")) measured.connected = performance.now();
    if (measured.question || !document.querySelector("[data-question]")) return;
    measured.question = -1;
    requestAnimationFrame(() => requestAnimationFrame((now) => { measured.question = now; }));
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})()`

// seen is what a load of a page has shown: when, in milliseconds after its start.
type seen struct {
	Contentful float64 `json:"contentful"`
	Question   float64 `json:"question"`
	Connected  float64 `json:"connected"`
	Task       float64 `json:"task"`
}

const reading = `(() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const contentful = paint ? paint.startTime : 0;
  return { contentful, question: measured.question && Math.max(measured.question, contentful), connected: measured.connected, task: measured.task };
})()`

// browser is a Chromium with a port for Lighthouse, in which somebody is logged in.
type browser struct {
	server  *server
	ctx     context.Context
	end     context.CancelFunc
	port    string
	cookies string
}

func (s *server) browse(ctx context.Context, dir string) (*browser, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "browser")
	allocated, closeAll := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(home), remote.WebSocket)...)
	tab, closeTab := chromedp.NewContext(allocated)
	b := &browser{server: s, ctx: tab, end: func() { closeTab(); closeAll() }}
	if err := chromedp.Do(tab); err != nil {
		return b, err
	}
	if err := b.login(); err != nil {
		b.end()
		return nil, err
	}
	said, err := os.ReadFile(filepath.Join(home, "DevToolsActivePort"))
	b.port, _, _ = strings.Cut(string(said), "\n")
	return b, err
}

// do runs steps in the tab, bounded.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, browserTime)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

func call(f func(ctx context.Context) error) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { return f(ctx) })
}

func value[T any](b *browser, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, browserTime)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until an expression is true on the page; while that loads there is none.
func (b *browser) until(expression string) error {
	var last error
	for began := time.Now(); time.Since(began) < browserTime; time.Sleep(20 * time.Millisecond) {
		ok, err := value[bool](b, "!!("+expression+")")
		if ok {
			return nil
		}
		last = err
	}
	return errors.Join(fmt.Errorf("the page never showed %s", expression), last)
}

func (b *browser) login() error {
	said, err := b.server.command("code")
	if err != nil {
		return err
	}
	code := regexp.MustCompile(`\b\d{4}(-\d{4}){4}\b`).FindString(said)
	err = b.do(call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching})
		return err
	}), chromedp.Navigate(b.server.info.Page))
	if err != nil {
		return err
	}
	if err := b.until(`document.getElementById("code")`); err != nil {
		return err
	}
	if _, err := value[bool](b, `(() => { const code = document.getElementById("code"); code.value = `+strconv.Quote(code)+`; code.form.submit(); return true })()`); err != nil {
		return err
	}
	if err := b.until(`document.getElementById("connection")?.textContent.startsWith("Connected")`); err != nil {
		return err
	}
	return b.do(call(func(ctx context.Context) error {
		found, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{b.server.info.Page}})
		if err == nil {
			for _, one := range found.Cookies {
				b.cookies += one.Name + "=" + one.Value + "; "
			}
		}
		return err
	}))
}

// become makes the browser a phone on a slow network, or what it is.
func (b *browser) become(phone bool) error {
	rate, slow := 1.0, []*network.Conditions{}
	screen := emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 800, DeviceScaleFactor: 1}
	if phone {
		const megabit = 1e6 / 8
		rate, slow = 4, []*network.Conditions{{Latency: 150, DownloadThroughput: 1.6 * megabit, UploadThroughput: 0.75 * megabit}}
		screen = emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 640, DeviceScaleFactor: 3, Mobile: true}
	}
	return b.do(call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		if err == nil {
			_, err = chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: slow})
		}
		if err == nil { // what the worker of the page asks for would not be slow
			_, err = chromedp.Call(ctx, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true})
		}
		if err == nil {
			_, err = chromedp.Call(ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		}
		if err == nil {
			_, err = chromedp.Call(ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: rate})
		}
		if err == nil {
			_, err = chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, screen)
		}
		return err
	}))
}

// load opens a page, each time with an empty cache, and tells when what was painted and how long the longest task was.
func (b *browser) load(ctx context.Context, path string, phone bool, times int) error {
	if err := b.become(phone); err != nil {
		return err
	}
	var all []seen
	for range times {
		one, err := b.once(path)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	fmt.Printf("%s, %s:\n", shape(path), device(phone))
	report(all)
	return ctx.Err()
}

// once loads a page from a page of the same server, or the way to the document would not be slow.
func (b *browser) once(path string) (seen, error) {
	root := strings.TrimSuffix(b.server.info.Page, "/")
	if err := b.do(chromedp.Navigate(root+"/page/mark.svg"), chromedp.Navigate(root+path)); err != nil {
		return seen{}, err
	}
	done := `document.readyState === "complete" && performance.getEntriesByName("first-contentful-paint").length`
	if !strings.HasPrefix(path, "/sessions") {
		done = `document.getElementById("connection")?.textContent.startsWith("Connected") && measured.question > 0`
	}
	if err := b.until(done); err != nil {
		return seen{}, err
	}
	time.Sleep(500 * time.Millisecond) // the tasks after the load count, too
	return value[seen](b, reading)
}

func report(all []seen) {
	for _, one := range []struct {
		what string
		of   func(seen) float64
	}{
		{"first contentful paint", func(s seen) float64 { return s.Contentful }},
		{"first paint of the question", func(s seen) float64 { return s.Question }},
		{"connected", func(s seen) float64 { return s.Connected }},
		{"longest task", func(s seen) float64 { return s.Task }},
	} {
		fmt.Printf("  %s: %s\n", one.what, middle(all, one.of))
	}
}

func device(phone bool) string {
	if phone {
		return "phone"
	}
	return "desktop"
}

// live has an open page hear what comes to the long session, on a phone and as it is.
func (b *browser) live(ctx context.Context, long *client.AgentSession, times int) error {
	const many = 20
	for _, phone := range []bool{false, true} {
		if err := b.load(ctx, "/?session="+long.ID, phone, 1); err != nil {
			return err
		}
		var all []seen
		for n := range times {
			if _, err := value[bool](b, `(measured.task = 0, true)`); err != nil {
				return err
			}
			for i := range many {
				if err := long.Report(ctx, api.AgentReport{Observed: fmt.Sprintf("Came to folder %d.", n*many+i)}); err != nil {
					return err
				}
			}
			if err := b.until(fmt.Sprintf(`document.getElementById("session").innerText.includes("folder %d.")`, n*many+many-1)); err != nil {
				return err
			}
			one, err := value[seen](b, reading)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		fmt.Printf("while %d events came, %s: longest task %s\n", many, device(phone), middle(all, func(s seen) float64 { return s.Task }))
	}
	return nil
}

// middle is the median of something seen, with the least and the most; of a task under 50 ms the browser does not tell.
func middle(all []seen, of func(seen) float64) string {
	var each []float64
	for _, one := range all {
		each = append(each, of(one))
	}
	slices.Sort(each)
	if each[len(each)-1] == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f ms (%.0f to %.0f)", each[len(each)/2], each[0], each[len(each)-1])
}

// rate has Lighthouse rate the performance of a page, as on its own phone.
func (b *browser) rate(ctx context.Context, path string) error {
	if err := b.become(false); err != nil {
		return err
	}
	packages, err := testkit.Packages("lighthouse", "../internal/transport/web/browser/testdata/lighthouse/package-lock.json")
	if err != nil {
		return err
	}
	run := exec.CommandContext(ctx, "node", filepath.Join(packages, "lighthouse", "cli", "index.js"), strings.TrimSuffix(b.server.info.Page, "/")+path, "--port", b.port,
		"--only-categories", "performance", "--disable-storage-reset", "--output", "json", "--output-path", "stdout", "--quiet", "--no-enable-error-reporting")
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		return err
	}
	var r struct {
		Categories map[string]struct {
			Score float64 `json:"score"`
		} `json:"categories"`
		Audits map[string]struct {
			Title   string `json:"title"`
			Display string `json:"displayValue"`
		} `json:"audits"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return err
	}
	fmt.Printf("Lighthouse, performance of %s: %.0f of 100\n", path, r.Categories["performance"].Score*100)
	for _, name := range []string{"first-contentful-paint", "largest-contentful-paint", "speed-index", "total-blocking-time", "cumulative-layout-shift"} {
		fmt.Printf("  %s: %s\n", r.Audits[name].Title, r.Audits[name].Display)
	}
	return nil
}
