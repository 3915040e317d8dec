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

// retentionFile stores a server's retention settings, so that a program that uses the same data without settings does
// not erase earlier.
const retentionFile = "retention.json"

// Retention is how long content and receipts are kept, as text; "" means the default.
type Retention struct {
	Content  string `json:"content,omitzero"`
	Receipts string `json:"receipts,omitzero"`
}

const (
	day          = 24 * time.Hour
	forever      = "forever"
	maxRetention = 100 * 365 * day
)

// retention parses a time such as 30d, 12h or forever; "" means the default.
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

// durations returns both times. Receipts are kept at least as long as content.
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

// Check refuses invalid times.
func (r Retention) Check() error {
	_, _, err := r.durations()
	return err
}

// readRetention reads the stored settings; empty means the default.
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
	if err != nil { // an error is better than erasing too early
		return r, cause.Fail(err, "how long things are kept cannot be read from "+d.File(retentionFile),
			"start `earshot up` with --retention-content and --retention-receipts, or remove the file for 30 days and a year")
	}
	return r, nil
}

// retention returns the retention times of this data directory: the current options, which are stored for later,
// otherwise the stored ones. The two times are independent: setting one does not change the other.
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
