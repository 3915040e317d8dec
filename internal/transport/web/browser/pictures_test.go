package browser_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/earshot-dev/earshot/internal/surface/page"
)

var update = flag.Bool("update", false, "make the pictures in testdata/pictures again")

const (
	// shrink is how many pixels of the page, across and down, become one of a picture: small files, in which the edges of letters blur.
	shrink = 4
	// tallest is how much of a page is kept, in pixels of the page.
	tallest = 4096
	// block is the side of the squares that are compared, in pixels of a picture; unlike is by how much of 255 two of them may differ
	// on average.
	block, unlike = 8, 10
)

// TestPictures compares what each part of the page looks like with the pictures in testdata/pictures, which a person has looked at:
//
//	go test ./internal/transport/web/browser -run TestPictures -update
//
// makes them again. All is made of fixed content and with fixed letters; there are no scripts.
func TestPictures(t *testing.T) {
	t.Parallel()
	pageChanged(t)
	needsChromium(t)
	http := httptest.NewServer(pictured(t))
	t.Cleanup(http.Close)
	b := (&server{t: t, page: http.URL}).open()
	paths := []string{"/styleguide", "/home", "/sessions/sess_1"}
	for name := range pagesOfTests(t) {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	for _, path := range paths {
		b.visitPinned(path)
		for _, look := range []struct {
			name          string
			width, height int64
			dir           string
			media         []string
		}{
			{"light", 1024, 768, "ltr", []string{"prefers-color-scheme", "light"}},
			{"dark", 1024, 768, "ltr", []string{"prefers-color-scheme", "dark"}},
			{"forced", 1024, 768, "ltr", []string{"forced-colors", "active"}},
			{"narrow", 320, 640, "ltr", nil},
			{"enlarged", 320, 256, "ltr", nil}, // 1280 by 1024 at 400 percent
			{"rtl", 1024, 768, "rtl", nil},
		} {
			b.emulate(look.width, look.height, 1)
			b.media(look.media)
			value[bool](b, fmt.Sprintf(`(document.documentElement.dir = %q, true)`, look.dir))
			b.until(fmt.Sprintf("innerWidth === %d && innerHeight === %d", look.width, look.height))
			value[bool](b, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
			b.pictured(strings.ReplaceAll(strings.Trim(path, "/"), "/", "-") + "-" + look.name)
		}
	}
}

// visitPinned goes to a page, and waits for its letters.
func (b *tab) visitPinned(path string) {
	b.t.Helper()
	b.visit(path)
	if !value[bool](b, `Promise.all([400, 700].map((w) => document.fonts.load(w + " 16px Pinned"))).then((all) => all.every((one) => one.length === 1))`) {
		b.t.Fatal("the letters of the pictures are not there")
	}
}

// pagesOfTests are the pages that the tests of the package above keep, in their looks: without the scripts, which are not served.
func pagesOfTests(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "*.html"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	style := func(name string) []byte {
		css, err := os.ReadFile(filepath.Join("..", "..", "..", "surface", "page", "assets", name))
		must(t, err)
		return slices.Concat([]byte("<style>"), css, []byte("</style>"))
	}
	pages := map[string][]byte{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		body, err := os.ReadFile(file)
		must(t, err)
		more := "lists.css" // a page that has a second style has one of these
		if bytes.Contains(body, []byte(`<body class="home"`)) || bytes.Contains(body, []byte(`<body class="sheet view"`)) {
			more = "view.css"
		}
		body = bytes.Replace(body, []byte("<style></style>"), style("style.css"), 1)
		pages["/pages/"+name] = bytes.Replace(body, []byte("<style></style>"), style(more), 1)
	}
	return pages
}

// pictured serves pages with fixed content, set in fixed letters.
func pictured(t *testing.T) http.Handler {
	t.Helper()
	assets, err := page.Load()
	must(t, err)
	l := &longSession{t: t, assets: assets}
	l.calls.Store(3)
	home := page.Home{
		Person: "ada", Zone: "UTC", Title: "Earshot", Where: "Question 1 waits for your answer.", Navigation: page.Navigation{Passkeys: true, Inspects: true},
		Questions: page.Questions{Heading: "Questions: 3 open", Total: 3, Open: guideQuestions(t)},
		Sessions:  page.Sessions{Running: guideSessions()[:2], Before: guideSessions()[2:]},
	}
	one, record := l.record()
	home.Chosen = &page.Chosen{Session: one, Story: record.Story(), MayStop: true}
	bodies := map[string][]byte{}
	for path, made := range map[string]struct {
		template string
		data     any
	}{
		"/home":            {"home", home},
		"/sessions/sess_1": {"session", record.View(one, page.NewTree(one.Session, nil), page.Selection{}, time.UTC)},
	} {
		bodies[path], err = assets.In("").Render(made.template, made.data)
		must(t, err)
	}
	maps.Copy(bodies, pagesOfTests(t))
	guide := httptest.NewRecorder()
	styles := styleGuide(t)
	styles.ServeHTTP(guide, httptest.NewRequest(http.MethodGet, "/styleguide", http.NoBody))
	bodies["/styleguide"] = guide.Body.Bytes()
	mux := http.NewServeMux()
	mux.Handle("/", styles)
	for path, body := range bodies {
		body = bytes.Replace(body, []byte("</head>"), []byte(`<link rel="stylesheet" href="/pinned.css"></head>`), 1)
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'")
			_, _ = w.Write(body)
		})
	}
	const pinned = `@font-face { font-family: Pinned; font-weight: 1 549; src: url(/fonts/DejaVuSans.ttf); }
@font-face { font-family: Pinned; font-weight: 550 1000; src: url(/fonts/DejaVuSans-Bold.ttf); }
html, code, pre, input, select, textarea { font-family: Pinned !important; }
`
	mux.HandleFunc("GET /pinned.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write([]byte(pinned))
	})
	for _, file := range []string{"DejaVuSans.ttf", "DejaVuSans-Bold.ttf"} {
		letters, err := os.ReadFile(filepath.Join(fonts, "dejavu", file))
		if err != nil {
			lacks(t, "the letters of the pictures are not here; `scripts/need fonts` installs them")
		}
		mux.HandleFunc("GET /fonts/"+file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(letters) })
	}
	return mux
}

// pictured compares the page as it is with its picture.
func (b *tab) pictured(name string) {
	b.t.Helper()
	found := b.picture()
	file := filepath.Join("testdata", "pictures", name+".png")
	if *update {
		var body bytes.Buffer
		must(b.t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&body, found))
		must(b.t, os.MkdirAll(filepath.Dir(file), 0o750))
		must(b.t, os.WriteFile(file, body.Bytes(), 0o600))
		return
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatalf("%s has no picture (go test -update makes it): %v", name, err)
	}
	kept, err := png.Decode(bytes.NewReader(raw))
	must(b.t, err)
	want, is := kept.(*image.Gray)
	if !is {
		b.t.Fatalf("%s is not grey", file)
	}
	if told := difference(want, found); told != "" {
		b.t.Errorf("%s looks different: %s. Look at it (-shots FOLDER writes it down), then make the pictures again with -update", name, told)
		b.shot(name)
	}
}

// picture is one of the page as it is. Chromium is told how large that is: by itself it takes the size of a frame before, on a busy machine.
func (b *tab) picture() *image.Gray {
	b.t.Helper()
	size := value[[]float64](b, `[document.documentElement.scrollWidth, document.documentElement.scrollHeight]`)
	beyond := true
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	shot, err := chromedp.Call(ctx, cdp.CaptureScreenshot, cdp.CaptureScreenshotParams{
		CaptureBeyondViewport: &beyond, Clip: &cdp.Viewport{Width: size[0], Height: size[1], Scale: 1},
	})
	must(b.t, err)
	whole, err := png.Decode(bytes.NewReader(shot.Data))
	must(b.t, err)
	return shrunk(whole)
}

// shrunk is a picture of a page: small and grey.
func shrunk(whole image.Image) *image.Gray {
	size := whole.Bounds()
	pixels := image.NewRGBA(image.Rect(0, 0, size.Dx(), min(size.Dy(), tallest)))
	draw.Draw(pixels, pixels.Rect, whole, size.Min, draw.Src)
	small := image.NewGray(image.Rect(0, 0, pixels.Rect.Dx()/shrink, pixels.Rect.Dy()/shrink))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			sum := 0
			for i := range shrink {
				at := pixels.PixOffset(x*shrink, y*shrink+i)
				for j := range shrink {
					one := pixels.Pix[at+4*j:]
					sum += (299*int(one[0]) + 587*int(one[1]) + 114*int(one[2])) / 1000
				}
			}
			small.Pix[y*small.Stride+x] = uint8(sum / (shrink * shrink))
		}
	}
	return small
}

// difference says where two pictures differ, in pixels of the page, and "" where they look the same.
func difference(want, found *image.Gray) string {
	if w, f := want.Rect.Size(), found.Rect.Size(); w.X != f.X || max(w.Y, f.Y)-min(w.Y, f.Y) > 1 {
		return fmt.Sprintf("it is %d by %d pixels, and was %d by %d", f.X*shrink, f.Y*shrink, w.X*shrink, w.Y*shrink)
	}
	var where image.Rectangle
	blocks := 0
	both := want.Rect.Intersect(found.Rect)
	for y := 0; y < both.Dy(); y += block {
		for x := 0; x < both.Dx(); x += block {
			one := image.Rect(x, y, x+block, y+block).Intersect(both)
			if apart(want, found, one) > unlike {
				blocks++
				where = where.Union(one)
			}
		}
	}
	if blocks == 0 {
		return ""
	}
	return fmt.Sprintf("%d squares of %d pixels, between %d,%d and %d,%d", blocks, block*shrink, where.Min.X*shrink, where.Min.Y*shrink, where.Max.X*shrink, where.Max.Y*shrink)
}

// apart is how much two pictures differ in a part, on average.
func apart(one, other *image.Gray, part image.Rectangle) int {
	sum := 0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			a, b := int(one.GrayAt(x, y).Y), int(other.GrayAt(x, y).Y)
			sum += max(a, b) - min(a, b)
		}
	}
	return sum / (part.Dx() * part.Dy())
}

// TestPicturesBite: a style that is lost and a part that lies over another one are found, with where; a pixel here and there is not.
func TestPicturesBite(t *testing.T) {
	t.Parallel()
	pageChanged(t)
	needsChromium(t)
	http := httptest.NewServer(pictured(t))
	t.Cleanup(http.Close)
	b := (&server{t: t, page: http.URL}).open()
	b.visitPinned("/home")
	picture := func(change string) *image.Gray {
		t.Helper()
		value[bool](b, "("+change+", true)")
		return b.picture()
	}
	style := func(selector, text string) string {
		return fmt.Sprintf(`document.querySelector(%q).style.cssText = %q`, selector, text)
	}
	before := picture("0")
	for what, change := range map[string][2]string{
		"a button without its style": {".danger", "background: none; color: inherit"},
		"a card over another one":    {"#question-2", "position: relative; top: -3rem"},
		"other colours":              {"#questions", "filter: invert(1)"},
	} {
		if told := difference(before, picture(style(change[0], change[1]))); !strings.Contains(told, "between") {
			t.Errorf("%s is not found: %q", what, told)
		}
		picture(style(change[0], ""))
	}
	if told := difference(before, picture(style("h1", "translate: 0.3px"))); told != "" {
		t.Errorf("a third of a pixel is found: %s", told)
	}
	if told := difference(before, picture(style("#questions", "padding-top: 40px"))); !strings.Contains(told, "pixels, and was") {
		t.Errorf("a taller page is not found: %q", told)
	}
}

// TestPicturesAreSmall: the pictures take little room, and each is compared.
func TestPicturesAreSmall(t *testing.T) {
	t.Parallel()
	const most = 1_500_000
	want := 6 * (3 + len(pagesOfTests(t)))
	var size int64
	count := 0
	must(t, filepath.WalkDir(filepath.Join("testdata", "pictures"), func(_ string, one fs.DirEntry, err error) error {
		if err != nil || one.IsDir() {
			return err
		}
		about, err := one.Info()
		if err == nil {
			size, count = size+about.Size(), count+1
		}
		return err
	}))
	if count != want || size > most {
		t.Errorf("%d pictures of %d bytes, want %d of %d at most", count, size, want, most)
	}
}
