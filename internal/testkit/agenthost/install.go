package agenthost

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// CacheVariable names the folder of the installed programs; without it they are in the user's cache.
const CacheVariable = "EARSHOT_AGENTS_CACHE"

// What npm installs. The lock file holds a digest of each package and no address of a registry (see CONTRIBUTING.md).
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
)

const (
	// installLimit bounds a download of 800 MB.
	installLimit = 20 * time.Minute
	// pollPause is how often a process that waits for another's installation looks whether it has ended.
	pollPause = 200 * time.Millisecond
)

var errNoNPM = errors.New("found no npm on the PATH, expected it and Node 20 or newer; install both, or leave these tests out")

// Programs is the folder of the installed programs.
type Programs string

// installOnce is for all tests of this process, whether it went well or not.
var installOnce = sync.OnceValues(func() (Programs, error) {
	ctx, cancel := context.WithTimeout(context.Background(), installLimit)
	defer cancel()
	return Install(ctx, os.Stderr)
})

// Need installs the programs unless they are in the cache. Where that cannot be done the test is left out, which CI=true
// turns into a failure (scripts/verdict).
func Need(t testing.TB) Programs {
	t.Helper()
	programs, err := installOnce()
	if err != nil {
		t.Skip(err)
	}
	return programs
}

// Install installs the programs into the cache, unless they are there, and tells to what it does. Of several processes
// one installs and the others wait.
func Install(ctx context.Context, to io.Writer) (Programs, error) {
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(append([]byte{}, manifest...), lock...))
	folder := filepath.Join(cache, hex.EncodeToString(sum[:6]))
	if installed(folder) {
		return Programs(folder), nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", errNoNPM
	}
	release, err := lockCache(ctx, cache)
	if err != nil {
		return "", err
	}
	defer release()
	if installed(folder) {
		return Programs(folder), nil // by the process that had the lock before
	}
	return Programs(folder), install(ctx, folder, to)
}

func installed(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil
}

func cacheFolder() (string, error) {
	cache := os.Getenv(CacheVariable)
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the user's cache, or set %s: %w", CacheVariable, err)
		}
		cache = filepath.Join(user, "earshot-agents")
	}
	if err := os.MkdirAll(cache, 0o700); err != nil { //nolint:gosec // the developer names the folder
		return "", fmt.Errorf("create the cache of agents: %w", err)
	}
	return cache, nil
}

// lockCache waits for the cache's lock, which ends with the process that holds it.
func lockCache(ctx context.Context, cache string) (release func(), err error) {
	file, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the cache's lock: %w", err)
	}
	look := time.NewTicker(pollPause)
	defer look.Stop()
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock the cache of agents: %w", err), file.Close())
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for another process that installs agents into %s: %w", cache, ctx.Err()), file.Close())
		}
	}
}

// install fills a new folder and then gives it its name, so that a folder of that name is whole.
func install(ctx context.Context, folder string, to io.Writer) error {
	made := folder + ".new"
	if err := os.RemoveAll(made); err != nil {
		return fmt.Errorf("remove an unfinished installation: %w", err)
	}
	if err := os.MkdirAll(made, 0o700); err != nil {
		return fmt.Errorf("create the folder of agents: %w", err)
	}
	for name, content := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(made, name), content, 0o600); err != nil {
			return fmt.Errorf("write what npm installs: %w", err)
		}
	}
	began := time.Now()
	_, _ = fmt.Fprintf(to, "agenthost: installing the agents of package.json from npm into %s (800 MB to fetch)\n", folder)
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
	npm.Dir = made
	out, err := npm.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%sfound no agents from npm, expected npm ci to install them: %w", out, err) // the last line is shown
	}
	if err := os.Rename(made, folder); err != nil {
		return fmt.Errorf("keep the installed agents: %w", err)
	}
	_, _ = fmt.Fprintf(to, "agenthost: installed in %.0f s\n", time.Since(began).Seconds())
	return nil
}
