package main

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// parts is how often memory is measured while events come.
const parts = 6

// replay has an open page hear so many more events of the long session as fast as they are reported, and says what it holds after each part
// of them, when its garbage is collected: a page that is open for an hour holds no more than one that has just been opened.
func (b *browser) replay(ctx context.Context, long *client.AgentSession, events int) error {
	if err := b.load(ctx, "/?session="+long.ID, false, 1); err != nil {
		return err
	}
	began := time.Now()
	for part := range parts + 1 {
		first := (part - 1) * events / parts
		for n := max(first, 0); n < part*events/parts; n++ {
			if err := long.Report(ctx, api.AgentReport{Observed: fmt.Sprintf("Looked again at folder %d.", n)}); err != nil {
				return err
			}
		}
		if last := part*events/parts - 1; last >= 0 {
			if err := b.until(fmt.Sprintf(`document.getElementById("session").innerText.includes("again at folder %d.")`, last)); err != nil {
				return err
			}
		}
		held, err := b.held()
		if err != nil {
			return err
		}
		fmt.Printf("after %d events, %s: %.1f MB of scripts, %.0f nodes, %.0f listeners of events\n", part*events/parts, time.Since(began).Round(time.Second),
			held["JSHeapUsedSize"]/1e6, held["Nodes"], held["JSEventListeners"])
	}
	return nil
}

// held is what the page holds, without its garbage.
func (b *browser) held() (map[string]float64, error) {
	held := map[string]float64{}
	err := b.do(call(func(ctx context.Context) error {
		if _, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{}); err != nil {
			return err
		}
		for range 2 { // what is held by what is collected first goes in a second time
			if _, err := chromedp.Call(ctx, heapprofiler.CollectGarbage, struct{}{}); err != nil {
				return err
			}
		}
		found, err := chromedp.Call(ctx, performance.GetMetrics, struct{}{})
		if err == nil {
			for _, one := range found.Metrics {
				held[one.Name] = one.Value
			}
		}
		return err
	}))
	return held, err
}
