// Inline assembly: scoped names without '%', several statements on a line, labels, predicates, comments, video.
extern "C" __global__ void assembly(unsigned* out, const unsigned* in, int n) {
  unsigned a = in[0], b = in[1], d;
  asm("{ .reg .u32 t1; .reg .pred p; setp.ne.u32 p, %1, 0; add.u32 t1, %1, %2; @p not.b32 t1, t1; mov.u32 %0, t1; }"
      : "=r"(d) : "r"(a), "r"(b));
  out[0] = d;
  asm volatile("{\n\t.reg .b32 count; // a comment\n\tmov.u32 count, %0;\n\tLOOP: sub.u32 count, count, 1; /* another */\n\t"
               ".reg .pred again; setp.gt.s32 again, count, 0;\n\t@again bra LOOP;\n\t@!again bra DONE;\nDONE:\n\t}" :: "r"(n));
  asm volatile("{ .reg .u32 count; mov.u32 count, %0; LOOP: sub.u32 count, count, 2; .reg .pred p<3>; setp.gt.s32 p1|p2, count, 0; @p1 bra LOOP; }" :: "r"(n));
  unsigned long long wide;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
  unsigned lo, hi;
  asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 0;" : "=r"(lo), "=r"(hi) : "r"(a), "r"(b));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(wide));
  out[1] = lo + hi;
  unsigned lane, mask, cycles;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
  out[2] = lane + mask + cycles;
  asm("vadd.u32.u32.u32.sat %0, %1.b0, %2.h1;" : "=r"(d) : "r"(a), "r"(b));
  asm("vmad.s32.s32.s32.shr7 %0, %1, %2, -%3;" : "+r"(d) : "r"(a), "r"(b), "r"(n));
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(out[3]) : "r"(a), "r"(b), "r"(d));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(a), "r"(b), "r"(n));
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(out[4]) : "r"(a), "r"(b), "r"(d));
  asm("bfi.b32 %0, %1, %2, 8 - 4, (2 + 2) * 2;" : "=r"(out[5]) : "r"(a), "r"(b));
  asm("{ .reg .f32 f; mov.f32 f, 0f40490FDB; add.rz.f32 f, f, 1.5e-3; mov.b32 %0, f; }" : "=r"(out[6]));
}
