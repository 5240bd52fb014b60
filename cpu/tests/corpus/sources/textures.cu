// Texture and surface objects.
extern "C" __global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float* out, float x, float y, float z) {
  out[0] = tex1Dfetch<float>(t, 3) + tex1D<float>(t, x);
  float4 v = tex2D<float4>(t, x, y);
  out[1] = v.x + v.w + tex3D<float>(t, x, y, z) + tex2DLod<float>(t, x, y, 1.5f) + tex2DLayered<float>(t, x, y, 2);
  out[2] = texCubemap<float>(t, x, y, z) + tex2Dgather<float4>(t, x, y, 1).y + tex2DGrad<float>(t, x, y, make_float2(x, y), make_float2(y, x));
  int r;
  surf2Dread(&r, s, 4, 5, cudaBoundaryModeClamp);
  surf2Dwrite(r + 1, s, 8, 9, cudaBoundaryModeZero);
  surf1Dwrite(make_uchar4(1, 2, 3, 4), s, 8);
}
