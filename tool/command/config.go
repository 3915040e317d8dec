package command

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// config is the section `command` of a file.
type config struct {
	Target      string            `yaml:"target"`
	Environment map[string]string `yaml:"environment"`
	Secrets     settings.Secrets  `yaml:"secrets"`
	Limits      limits            `yaml:"limits"`
	Operations  []operation       `yaml:"operations"`
}

// operation is one program with its template.
type operation struct {
	Tool        string            `yaml:"tool"`
	Description string            `yaml:"description"`
	Class       utp.Class         `yaml:"class"`
	Risk        utp.Risk          `yaml:"risk"`
	Parameters  yaml.Node         `yaml:"parameters"`
	Program     string            `yaml:"program"`
	Argv        []argument        `yaml:"argv"`
	Stdin       string            `yaml:"stdin"`
	Folder      string            `yaml:"folder"`
	Within      string            `yaml:"within"`
	Environment map[string]string `yaml:"environment"`
	Inherit     []string          `yaml:"inherit"`
	Secrets     []secretUse       `yaml:"secrets"`
	Limits      limits            `yaml:"limits"`
	Output      string            `yaml:"output"`
	Exit        map[int]exit      `yaml:"exit"`

	settings.Phrases `yaml:",inline"`
}

// limits of a section, or of one operation. A value of 0 is taken from the section, or else is the default.
type limits struct {
	Time   time.Duration `yaml:"time"`   // then SIGTERM is sent; default 1 min
	Grace  time.Duration `yaml:"grace"`  // after SIGTERM, then SIGKILL; default 3 s
	Output settings.Size `yaml:"output"` // of each of the two streams, in bytes; default 64 KiB
}

const (
	defaultTime   = time.Minute
	defaultGrace  = 3 * time.Second
	defaultOutput = 64 << 10
	maxTime       = 24 * time.Hour
	// maxGrace leaves the service enough time to report the result when it ends itself.
	maxGrace  = 4 * time.Second
	maxOutput = 8 << 20
)

// withDefaults fills in unset limits from base, or else with the defaults.
func (l limits) withDefaults(base limits) limits {
	pick := func(values ...int64) int64 {
		for _, v := range values {
			if v != 0 {
				return v
			}
		}
		return 0
	}
	return limits{
		Time:   time.Duration(pick(int64(l.Time), int64(base.Time), int64(defaultTime))),
		Grace:  time.Duration(pick(int64(l.Grace), int64(base.Grace), int64(defaultGrace))),
		Output: settings.Size(pick(int64(l.Output), int64(base.Output), defaultOutput)),
	}
}

// secretUse is how a program receives a secret: in a variable, or on a descriptor that it reads to the end. Never as an
// argument, which every user of the machine can see.
type secretUse struct {
	Name string `yaml:"name"`
	Env  string `yaml:"env"`
	FD   int    `yaml:"fd"`
}

// exit is the meaning of an exit code.
type exit struct {
	Status    string   `yaml:"status"` // success, partial, failed, timeout or unknown
	Code      utp.Code `yaml:"code"`
	Message   string   `yaml:"message"`
	Retryable bool     `yaml:"retryable"`
	// Untouched: a program with this exit code has changed nothing.
	Untouched bool `yaml:"untouched"`
}

// The formats of a program's output.
const (
	outputText = "text"
	outputJSON = "json"
)

// statusUnknown marks an exit code that does not reveal whether there was an effect.
const statusUnknown = "unknown"
