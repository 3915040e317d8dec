package hostsetup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hostfile"
)

// Program is the path by which this program will be found later: that on the PATH where it is the same, which stays after an upgrade.
func Program() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", cause.Fail(err, "the program does not know where it is", "install it, and start it from there")
	}
	if strings.Contains(own, "/go-build") && filepath.Base(filepath.Dir(own)) == "exe" {
		return "", cause.Misuse("this program is a temporary one of `go run`, which is gone when it ends", "install it first: go install github.com/earshot-dev/earshot/cmd/earshot@latest")
	}
	if found, err := exec.LookPath("earshot"); err == nil && sameFile(found, own) {
		if found, err = filepath.Abs(found); err == nil {
			return found, nil
		}
	}
	return own, nil
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// Known is what is known of a host on this machine.
type Known struct {
	Host      string `json:"host"`
	Title     string `json:"title"`
	File      string `json:"file"`
	Found     bool   `json:"found"`     // its program, or its file
	Installed bool   `json:"installed"` // Earshot is one of its servers
	Trouble   string `json:"trouble,omitzero"`
}

// Survey looks for each host.
func Survey(environment hostfile.Environment) []Known {
	hosts := hostfile.Hosts()
	all := make([]Known, 0, len(hosts))
	for _, host := range hosts {
		k := Known{Host: host.Name, Title: host.Title, File: host.File(environment)}
		_, err := os.Stat(k.File)
		k.Found = err == nil
		for _, program := range host.Programs {
			if _, err := exec.LookPath(program); err == nil {
				k.Found = true
			}
		}
		if k.Installed, err = Has(host, k.File); err != nil {
			k.Trouble = cause.Of(err)
		}
		all = append(all, k)
	}
	return all
}
