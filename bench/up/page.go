package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// browserTime bounds each step in the browser.
const browserTime = 30 * time.Second

// watching notes of each announcement when the event behind it was committed, by the server's
// word, and when its sentence stood in one of the live regions, by the browser's: both read
// the clock of this machine. It is the measurement's, not the page's.
const watching = `(() => {
  const committed = new Map();
  const placed = [];
  window.measured = () => placed.splice(0);
  const add = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (name, take, ...rest) {
    if (name !== "message") return add.call(this, name, take, ...rest);
    return add.call(this, name, (message) => {
      const { event, data: a } = JSON.parse(message.data);
      if (event === "earshot.announce") {
        if (!committed.has(a.text)) committed.set(a.text, []);
        committed.get(a.text).push(Date.parse(a.at));
      }
      take(message);
    }, ...rest);
  };
  document.addEventListener("DOMContentLoaded", () => {
    const observer = new MutationObserver((changes) => {
      const now = performance.timeOrigin + performance.now();
      for (const change of changes) {
        for (const line of change.addedNodes) {
          const at = committed.get(line.textContent)?.shift();
          if (at !== undefined) placed.push(now - at);
        }
      }
    });
    for (const region of document.querySelectorAll("#live-polite, #live-assertive")) observer.observe(region, { childList: true });
  });
})()`

// entrance is where the page is and a code that opens it, as `earshot code` prints both.
func entrance(binary, data string) (address, code string, err error) {
	said, err := exec.Command(binary, "code", "--data", data).CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("making a code: %w\n%s", err, said)
	}
	address, code = regexp.MustCompile(`http://\S+`).FindString(string(said)), regexp.MustCompile(`\b\d{4}(-\d{4}){4}\b`).FindString(string(said))
	if address == "" || code == "" {
		return "", "", fmt.Errorf("there is no address and no code in:\n%s", said)
	}
	return address, code, nil
}

// onPage measures how long an announcement takes from the commit of its event to its place on
// an open page, in a real browser.
func onPage(o settings, binary, dir string) error {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		return fmt.Errorf("there is no browser for the page (-page=false leaves it out): %w", err)
	}
	s, err := up(binary, dir)
	if err != nil {
		return err
	}
	defer s.end() //nolint:errcheck // The measurement is over.
	address, code, err := entrance(binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	ctx, closeAll := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser))...)
	defer closeAll()
	ctx, closeTab := chromedp.NewContext(ctx)
	defer closeTab()
	if err := chromedp.Do(ctx); err != nil {
		return err
	}
	if err := login(ctx, address, code); err != nil {
		return err
	}
	took, err := s.announced(ctx, o.turns)
	if err != nil {
		return err
	}
	report("event committed to announcement placed on the page", took)
	return nil
}

func login(ctx context.Context, address, code string) error {
	ctx, cancel := context.WithTimeout(ctx, browserTime)
	defer cancel()
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching})
		return err
	}), chromedp.Navigate(address))
	if err != nil {
		return err
	}
	if err := until(ctx, `document.getElementById("code")`); err != nil {
		return err
	}
	fill := `(() => { const code = document.getElementById("code"); code.value = ` + strconv.Quote(code) + `; code.form.submit(); return true })()`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fill)); err != nil {
		return err
	}
	return until(ctx, `document.getElementById("connection")?.textContent.startsWith("Connected")`)
}

// until waits until an expression is true on the page; while that loads there is none.
func until(ctx context.Context, expression string) error {
	var last error
	for ctx.Err() == nil {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if ok {
			return nil
		}
		last = err
		time.Sleep(20 * time.Millisecond)
	}
	return errors.Join(fmt.Errorf("the page never showed %s", expression), last)
}

// announced plays turns, and reads how long each of their sentences took to the page.
func (s *server) announced(ctx context.Context, turns int) ([]time.Duration, error) {
	events, err := s.subscribe()
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for range turns {
		if _, err := s.turn(events); err != nil {
			return nil, err
		}
		said, err := chromedp.Run(ctx, chromedp.Evaluate[json.RawMessage](`measured()`))
		if err != nil {
			return nil, err
		}
		var milliseconds []float64
		if err := json.Unmarshal(said, &milliseconds); err != nil {
			return nil, err
		}
		for _, ms := range milliseconds {
			took = append(took, time.Duration(ms*float64(time.Millisecond)))
		}
	}
	if len(took) < 3*turns {
		return nil, fmt.Errorf("%d sentences of %d turns reached the page", len(took), turns)
	}
	return took, nil
}
