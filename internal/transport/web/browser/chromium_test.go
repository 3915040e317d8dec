package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// fonts is the folder in which Debian's packages keep the fonts of the tests.
const fonts = "/usr/share/fonts/truetype"

var (
	// narrowFonts are the only fonts of the page here, whatever else a machine has: how wide letters are decides where a line breaks.
	narrowFonts = []string{
		"dejavu/DejaVuSans.ttf", "dejavu/DejaVuSans-Bold.ttf", "dejavu/DejaVuSansMono.ttf",
		"liberation/LiberationSans-Regular.ttf", "liberation/LiberationSans-Bold.ttf", "liberation/LiberationSans-Italic.ttf", "liberation/LiberationSans-BoldItalic.ttf",
	}
	// wideFonts are those of most desktops, whose letters are wider.
	wideFonts = []string{"noto/NotoSans-Regular.ttf", "noto/NotoSans-Bold.ttf", "noto/NotoSans-Italic.ttf", "noto/NotoSans-BoldItalic.ttf", "dejavu/DejaVuSansMono.ttf"}
)

// missing returns those of the fonts that this machine does not have.
func missing(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		_, err := os.Stat(filepath.Join(fonts, file))
		return err == nil
	})
}

// needsFonts leaves a test out that measures the page where a font is missing. With CI=true in the environment that is a failure.
func needsFonts(t *testing.T, files []string) {
	t.Helper()
	needsChromium(t)
	if lost := missing(files); len(lost) > 0 {
		lacks(t, fmt.Sprintf("the page was not measured, because %s is missing; `scripts/need fonts` installs it", filepath.Join(fonts, lost[0])))
	}
}

// newBrowser returns the context of a Chromium that starts with its first tab. The browser knows nothing of the user who runs the tests, and no
// fonts but these; its home and its cache of fonts are in folder. A machine without one of the fonts keeps all of its own. The caller closes it.
func newBrowser(folder string, files []string, more ...chromedp.ExecAllocatorOption) (ctx context.Context, closeBrowser func(), err error) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + os.TempDir(), "TZ=UTC", "LANG=C.UTF-8"}
	if len(missing(files)) == 0 {
		file, err := fontconfig(folder, files)
		if err != nil {
			return nil, nil, err
		}
		env = append(env, "FONTCONFIG_FILE="+file)
	}
	all, closeAll := chromedp.NewExecAllocator(context.Background(), slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(chromium), chromedp.WSURLReadTimeout(patience), chromedp.Flag("accept-lang", "en"), chromedp.NoInheritEnv, chromedp.Env(env...),
	}, more)...)
	ctx, closeTab := chromedp.NewContext(all)
	return ctx, func() { closeTab(); closeAll() }, nil
}

// fontconfig writes a configuration of fontconfig with the fonts alone, and a cache of its own. It returns the file.
func fontconfig(folder string, files []string) (string, error) {
	links := filepath.Join(folder, "fonts")
	if err := os.MkdirAll(links, 0o700); err != nil {
		return "", err
	}
	for _, file := range files {
		if err := os.Symlink(filepath.Join(fonts, file), filepath.Join(links, filepath.Base(file))); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf(`<?xml version="1.0"?>
<fontconfig>
<dir>%s</dir>
<cachedir>%s</cachedir>
<match target="pattern"><edit name="antialias" mode="append"><bool>true</bool></edit><edit name="hintstyle" mode="append"><const>hintslight</const></edit></match>
<alias><family>sans-serif</family><prefer><family>Noto Sans</family><family>Liberation Sans</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
`, links, filepath.Join(folder, "cache"))
	file := filepath.Join(folder, "fonts.conf")
	return file, os.WriteFile(file, []byte(text), 0o600)
}
