typedef int fab_study_stub;
