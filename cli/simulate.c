#include "simulate.h"

#include "interrupt.h"

void end_run(Tally *tally, Outcome outcome, const char *message)
{
    tally->outcome = outcome;
    snprintf(tally->message, sizeof tally->message, "%s", message);
}

void simulate_to_end(const Loaded *loaded, Tally *tally, EachStep each, void *ctx)
{
    const st_SystemDef *def = &loaded->def;
    st_System *system = loaded->system;
    st_Error err = {0};
    st_StepInfo info;
    bool ok = tally_start(tally, loaded, &info, &err) && each(ctx, &info, &err);
    double h = 0;
    while (ok && (h = next_step(st_system_time(system), def->h, def->end)) > 0 && interrupt_caught() == 0) {
        info = st_step_info();
        ok = interrupt_step(system, h, &info, &err) == ST_OK;
        if (!ok) break;
        tally_step(tally, system, &info);
        ok = each(ctx, &info, &err);
    }
    if (interrupt_caught() != 0 && (ok ? h > 0 : err.status == ST_ERR_CANCELLED))
        end_run(tally, RUN_INTERRUPTED, interrupt_word());
    else if (!ok)
        end_run(tally, err.status == ST_ERR_NUMERIC ? RUN_DIVERGED : RUN_FAILED, err.message);
}

void judge_steps(Tally *tally, const Loaded *loaded)
{
    char why[600];
    if (tally->outcome != RUN_FINISHED) return;
    if (100 * tally->open_joints > tally->steps) {
        st_JointDef joint;
        const bool known = st_scene_joint(loaded->scene, tally->worst_opening_joint, &joint) == ST_OK;
        snprintf(why, sizeof why,
                 "%lld of %lld steps left a joint open by more than %g of its size (or rad), more than 1 per cent; the "
                 "worst is %.3g at t = %.6g s, joint \"%.200s\"; try a smaller h%s",
                 tally->open_joints, tally->steps, OPEN_LIMIT, tally->worst_opening, tally->worst_opening_time,
                 known ? joint.name : "?", loaded->def.drift == ST_DRIFT_GAP ? "" : ", or drift gap");
        end_run(tally, RUN_UNSOLVED, why);
        return;
    }
    if (100 * tally->above_limit <= tally->steps) return;
    snprintf(why, sizeof why,
             "%lld of %lld steps left a residual above residual_limit = %g, more than 1 per cent; the worst is %.3g "
             "at t = %.6g s in %s; try a smaller h, or another solver",
             tally->above_limit, tally->steps, tally->residual_limit, tally->worst_residual, tally->worst_residual_time,
             tally->worst_island);
    end_run(tally, RUN_UNSOLVED, why);
}
