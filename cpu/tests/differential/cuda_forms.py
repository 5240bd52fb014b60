"""How CUDA C++ says an operation: expressions over the operands' names; what stands not here is inline assembly."""

RELATIONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def forms():
    found = {}
    for t, cpp in (("u32", "unsigned"), ("u64", "unsigned long long"), ("u16", "unsigned short")):
        bits = "b" + t[1:]
        found |= {
            f"add.{t}": f"({cpp})({{a}} + {{b}})",
            f"sub.{t}": f"({cpp})({{a}} - {{b}})",
            f"mul.lo.{t}": f"({cpp})({{a}} * ({'unsigned' if t == 'u16' else cpp}){{b}})",
            f"div.{t}": f"({cpp})({{a}} / {{b}})",
            f"rem.{t}": f"({cpp})({{a}} % {{b}})",
            f"min.{t}": "({a} < {b} ? {a} : {b})",
            f"max.{t}": "({a} > {b} ? {a} : {b})",
            f"and.{bits}": f"({cpp})({{a}} & {{b}})",
            f"or.{bits}": f"({cpp})({{a}} | {{b}})",
            f"xor.{bits}": f"({cpp})({{a}} ^ {{b}})",
            f"not.{bits}": f"({cpp})~{{a}}",
            f"shl.{bits}": f"({cpp})({{b}} < {bits[1:]} ? ({cpp}){{a}} << {{b}} : 0)",
            f"shr.{t}": f"({cpp})({{b}} < {bits[1:]} ? ({cpp}){{a}} >> {{b}} : 0)",
            f"cnot.{bits}": f"({cpp})!{{a}}",
            f"selp.{bits}": "({c} ? {a} : {b})",
        }
        signed = {"u32": "int", "u64": "long long", "u16": "short"}[t]
        for relation, sign in RELATIONS.items():
            found[f"setp.{relation}.{t}"] = f"({cpp}){{a}} {sign} ({cpp}){{b}}"
            found[f"setp.{relation}.s{t[1:]}"] = f"({signed}){{a}} {sign} ({signed}){{b}}"
        found[f"min.s{t[1:]}"] = f"(({signed}){{a}} < ({signed}){{b}} ? {{a}} : {{b}})"
        found[f"max.s{t[1:]}"] = f"(({signed}){{a}} > ({signed}){{b}} ? {{a}} : {{b}})"
        found[f"add.s{t[1:]}"] = found[f"add.{t}"]
        found[f"sub.s{t[1:]}"] = found[f"sub.{t}"]
        found[f"mul.lo.s{t[1:]}"] = found[f"mul.lo.{t}"]
    for t, cpp in (("f32", "float"), ("f64", "double")):
        letter = {"f32": "f", "f64": "d"}[t]
        for relation, sign in RELATIONS.items():
            if relation != "ne":
                found[f"setp.{relation}.{t}"] = f"{{a}} {sign} {{b}}"
        for relation, opposite in (("ltu", ">="), ("leu", ">"), ("gtu", "<="), ("geu", "<"), ("neu", "==")):
            found[f"setp.{relation}.{t}"] = f"!({{a}} {opposite} {{b}})"
        found[f"setp.nan.{t}"] = "isnan({a}) || isnan({b})"
        f = "f" if t == "f32" else ""
        found |= {
            f"add.{t}": "{a} + {b}",
            f"sub.{t}": "{a} - {b}",
            f"mul.{t}": "{a} * {b}",
            f"div.rn.{t}": "{a} / {b}",
            f"sqrt.rn.{t}": f"sqrt{f}({{a}})",
            f"fma.rn.{t}": f"fma{f}({{a}}, {{b}}, {{c}})",
            f"neg.{t}": "-{a}",
            f"abs.{t}": f"fabs{f}({{a}})",
            f"cvt.rn.{t}.s32": f"({cpp})(int){{a}}",
            f"cvt.rn.{t}.u32": f"({cpp}){{a}}",
            f"cvt.rn.{t}.s64": f"({cpp})(long long){{a}}",
            f"cvt.rn.{t}.u64": f"({cpp}){{a}}",
            f"cvt.rzi.{t}.{t}": f"trunc{f}({{a}})",
            f"cvt.rmi.{t}.{t}": f"floor{f}({{a}})",
            f"cvt.rpi.{t}.{t}": f"ceil{f}({{a}})",
            f"cvt.rni.{t}.{t}": f"rint{f}({{a}})",
        }
        name = {"f": "f", "d": "d"}[letter]
        for rounding in ("rn", "rz", "ru", "rd"):
            ptx = {"ru": "rp", "rd": "rm"}.get(rounding, rounding)
            found |= {
                f"add.{ptx}.{t}": f"__{name}add_{rounding}({{a}}, {{b}})",
                f"mul.{ptx}.{t}": f"__{name}mul_{rounding}({{a}}, {{b}})",
                f"sub.{ptx}.{t}": f"__{name}sub_{rounding}({{a}}, {{b}})",
            }
            if ptx != "rn":
                fma = "__fmaf" if t == "f32" else "__fma"
                found |= {
                    f"div.{ptx}.{t}": f"__{name}div_{rounding}({{a}}, {{b}})",
                    f"sqrt.{ptx}.{t}": f"__{name}sqrt_{rounding}({{a}})",
                    f"rcp.{ptx}.{t}": f"__{name}rcp_{rounding}({{a}})",
                    f"fma.{ptx}.{t}": f"{fma}_{rounding}({{a}}, {{b}}, {{c}})",
                }
            source = {"f32": "float", "f64": "double"}[t]
            found |= {
                f"cvt.{ptx}i.s32.{t}": f"(unsigned)__{source}2int_{rounding}({{a}})",
                f"cvt.{ptx}i.u32.{t}": f"__{source}2uint_{rounding}({{a}})",
                f"cvt.{ptx}i.s64.{t}": f"(unsigned long long)__{source}2ll_{rounding}({{a}})",
                f"cvt.{ptx}i.u64.{t}": f"__{source}2ull_{rounding}({{a}})",
            }
    return found | {
        "mul.hi.u32": "__umulhi({a}, {b})",
        "mul.hi.s32": "(unsigned)__mulhi((int){a}, (int){b})",
        "mul.hi.u64": "__umul64hi({a}, {b})",
        "mul.hi.s64": "(unsigned long long)__mul64hi((long long){a}, (long long){b})",
        "mul.wide.u32": "(unsigned long long){a} * {b}",
        "mul.wide.s32": "(unsigned long long)((long long)(int){a} * (int){b})",
        "mad.lo.u32": "{a} * {b} + {c}",
        "mad.lo.s32": "{a} * {b} + {c}",
        "mad.lo.u64": "{a} * {b} + {c}",
        "mad.lo.s64": "{a} * {b} + {c}",
        "popc.b32": "(unsigned)__popc({a})",
        "popc.b64": "(unsigned)__popcll({a})",
        "clz.b32": "(unsigned)__clz({a})",
        "clz.b64": "(unsigned)__clzll({a})",
        "brev.b32": "__brev({a})",
        "brev.b64": "__brevll({a})",
        "shf.l.wrap.b32": "__funnelshift_l({a}, {b}, {c})",
        "shf.r.wrap.b32": "__funnelshift_r({a}, {b}, {c})",
        "shf.l.clamp.b32": "__funnelshift_lc({a}, {b}, {c})",
        "shf.r.clamp.b32": "__funnelshift_rc({a}, {b}, {c})",
        "dp4a.s32.s32": "(unsigned)__dp4a((int){a}, (int){b}, (int){c})",
        "dp4a.u32.u32": "__dp4a((unsigned){a}, (unsigned){b}, (unsigned){c})",
        "sad.u32": "__usad({a}, {b}, {c})",
        "abs.s32": "((int){a} < 0 ? 0u - {a} : {a})",
        "neg.s32": "0u - {a}",
        "neg.s64": "0ull - {a}",
        "xor.pred": "{a} != {b}",
        "and.pred": "{a} && {b}",
        "or.pred": "{a} || {b}",
        "not.pred": "!{a}",
        "cvt.u32.u64": "(unsigned){a}",
        "cvt.u64.u32": "(unsigned long long){a}",
        "cvt.s64.s32": "(unsigned long long)(long long)(int){a}",
        "cvt.u32.u16": "(unsigned){a}",
        "cvt.u16.u32": "(unsigned short){a}",
        "cvt.s32.s16": "(unsigned)(short){a}",
        "cvt.s32.s8": "(unsigned)(signed char){a}",
        "cvt.u32.u8": "(unsigned)(unsigned char){a}",
        "cvt.s64.s16": "(unsigned long long)(long long)(short){a}",
        "cvt.u16.u64": "(unsigned short){a}",
        "cvt.f64.f32": "(double){a}",
        "cvt.rn.f32.f64": "(float){a}",
        "cvt.rz.f32.f64": "__double2float_rz({a})",
        "cvt.rm.f32.f64": "__double2float_rd({a})",
        "cvt.rp.f32.f64": "__double2float_ru({a})",
        "slct.b32.s32": "((int){c} >= 0 ? {a} : {b})",
    }


FORMS = forms()
