package wording

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Dead is a message that was put aside; died is when, as its reader's clock has it.
func Dead(one api.DeadDetail, died string) string {
	about := "a notice"
	if one.Call != "" {
		about = fmt.Sprintf("the command of %s, %s", cause.OneLine(one.Tool), one.Call)
	}
	return fmt.Sprintf("%d: %s, in %s, put aside %s: %s.", one.ID, about, one.Session, died, legible.Line(one.Reason))
}
