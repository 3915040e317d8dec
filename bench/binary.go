package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Binary builds the program as it is shipped into a folder and returns its path. The working
// directory has to be bench/, as it is for `go run ./up`.
func Binary(dir string) (string, error) {
	binary := filepath.Join(dir, "earshot")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "./cmd/earshot")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return binary, nil
}
