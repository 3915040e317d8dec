package instance

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
)

// retentionFile keeps what a server was told of how long things are kept, so that nothing that
// works with the same data without one erases earlier.
const retentionFile = "retention.json"

// Retention is how long content and receipts are kept, as people write it; "" is the default.
type Retention struct {
	Content  string `json:"content,omitzero"`
	Receipts string `json:"receipts,omitzero"`
}

const (
	day          = 24 * time.Hour
	forever      = "forever"
	maxRetention = 100 * 365 * day
)

// retention reads a time such as 30d, 12h or forever; "" is the default.
func retention(flag, text string) (time.Duration, error) {
	wrong := cause.Misuse(fmt.Sprintf("--%s %.64q is not a valid time to keep something; it can be 1h to 36500d, or forever", flag, text), "for example --"+flag+" 30d")
	switch text {
	case "":
		return 0, nil
	case forever:
		return -1, nil
	}
	d, err := time.ParseDuration(text)
	if days, whole := strings.CutSuffix(text, "d"); whole {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n <= int(maxRetention/day) {
			d = time.Duration(n) * day
		}
	}
	if err != nil || d < time.Hour || d > maxRetention {
		return 0, wrong
	}
	return d, nil
}

// durations are both times. Receipts are kept as long as content at least.
func (r Retention) durations() (content, receipts time.Duration, err error) {
	if content, err = retention("retention-content", r.Content); err == nil {
		receipts, err = retention("retention-receipts", r.Receipts)
	}
	if err != nil {
		return 0, 0, err
	}
	long := func(d, otherwise time.Duration) time.Duration {
		if d < 0 {
			return maxRetention + 1
		}
		return cmp.Or(d, otherwise)
	}
	if r.Receipts != "" && long(receipts, admin.DefaultReceipts) < long(content, admin.DefaultContent) {
		return 0, 0, cause.Misuse("receipts would be kept for a shorter time than content", "give --retention-receipts a time that is as long as --retention-content at least")
	}
	return content, receipts, nil
}

// Check refuses times that cannot be meant.
func (r Retention) Check() error {
	_, _, err := r.durations()
	return err
}

// readRetention reads what was said last; nothing is the default.
func readRetention(d *datadir.Dir) (Retention, error) {
	var r Retention
	raw, err := os.ReadFile(d.File(retentionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &r, json.RejectUnknownMembers(true))
	}
	if err == nil {
		_, _, err = r.durations()
	}
	if err != nil { // rather than erase too early
		return r, cause.Fail(err, "how long things are kept cannot be read from "+d.File(retentionFile),
			"start `earshot up` with --retention-content and --retention-receipts, or remove the file for 30 days and a year")
	}
	return r, nil
}

// retention is how long things are kept in this data directory: as is said now, which is noted for
// later, else as was said last. Each of the two times by itself: who names one leaves the other.
func (o Options) retention(d *datadir.Dir) (content, receipts time.Duration, err error) {
	if o.Visit {
		return -1, -1, nil
	}
	failure := o.Retention
	if failure.Content == "" || failure.Receipts == "" {
		before, err := readRetention(d)
		if err != nil {
			return 0, 0, err
		}
		failure = Retention{Content: cmp.Or(failure.Content, before.Content), Receipts: cmp.Or(failure.Receipts, before.Receipts)}
	}
	if content, receipts, err = failure.durations(); err != nil || o.Retention == (Retention{}) {
		return content, receipts, err
	}
	raw, err := json.Marshal(failure, jsontext.Multiline(true))
	if err == nil {
		err = datadir.WriteFile(d.File(retentionFile), raw)
	}
	if err != nil {
		return 0, 0, cause.Fail(err, "how long things are kept cannot be noted", "make room in "+d.Path)
	}
	return content, receipts, nil
}
